"""The cost menu: eight terms under activations of their own and three barriers, in one evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from grid_core.errors import ArgumentError, nearest
from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Absent, Algorithm, Input, Output, resolve
from grid_core.plugins.robot_view import RobotView
from grid_core.trace.functions import less, select
from grid_core.trace.linalg import Matrix, dot
from grid_core.trace.scalar import Real
from grid_plugins.plant.activated import SOURCE
from grid_plugins.plant.activations import KINDS, Activation, numbers_of
from grid_plugins.plant.barriers import barrier
from grid_plugins.plant.congruence import congruence
from grid_plugins.plant.features import (
    FrameFeatures,
    added_coordinates,
    bounded,
    cost_frame,
    linear,
    plain,
    state_tangent,
    unit_rows,
)
from grid_plugins.plant.signature import R_DES, V_DES, X, weights
from grid_plugins.plant.terms import Feature, Term, Values

TERMS = ("frame_pos", "state", "input", "linear_x", "linear_u", "orientation", "velocity", "frame_pos_2")
"""Names of the terms; the position is the place of a term's activation and scale."""

ALONG_INPUT = ("input", "linear_u")
"""Those that are along the input; the others are along the state."""

STATE, INPUT = "2*nv", "nu"
"""Widths of the variables: the tangent of the state, and the actuated inputs."""

BOUNDED = {
    "frame_pos": "3",
    "state": STATE,
    "input": INPUT,
    "linear_x": "mx",
    "linear_u": "mu",
    "velocity": "6",
    "frame_pos_2": "3",
    "q": "nl",
    "qd": "nv",
    "u": "nu",
}
"""What the columns of the bounds are of, in order, with their numbers: terms, then the values of the three barriers."""


@dataclass
class Total:
    """A cost along some variables: terms with their Jacobians, which one product takes together."""

    width: int
    terms: list[Term] = field(default_factory=list)
    jacobian: list[Values] = field(default_factory=list)

    def add(self, term: Term, jacobian: Sequence[Values]) -> None:
        self.terms.append(term)
        self.jacobian += jacobian

    @property
    def value(self) -> Real:
        return sum((term.value for term in self.terms), 0.0)

    def gradient(self) -> list[Real]:
        slopes = [slope for term in self.terms for slope in term.slopes]
        return [dot(column, slopes) for column in zip(*self.jacobian)] if slopes else [0.0] * self.width

    def hessian(self, k: KernelBuilder) -> Matrix:
        curvatures = [curvature for term in self.terms for curvature in term.curvatures]
        return congruence(k, self.jacobian, curvatures, self.width)


class Bounds:
    """The bounds of a call, if it has any."""

    def __init__(self, k: KernelBuilder) -> None:
        self._rows: Sequence[Values] = k.input("bounds") if k.has("bounds") else ()
        self._columns: dict[str, slice] = {}
        first = 0
        for name, width in zip(BOUNDED, resolve(tuple(BOUNDED.values()), k.dims)):
            self._columns[name] = slice(first, first + width)
            first += width

    def of(self, name: str) -> list[Values]:
        """Return lower and upper bounds, or nothing."""
        return [row[self._columns[name]] for row in self._rows]


def emit_menu(k: KernelBuilder) -> None:
    bounds, state, inputs = Bounds(k), Total(2 * k.model.nv), Total(k.dims["nu"])
    for name, feature, weight in _features(k):
        with k.section(name):
            number, eps = (k.input(parameter)[TERMS.index(name)] for parameter in ("activation", "eps"))
            limits = bounds.of(name) if feature.values else []
            sides = bounded(feature, *limits) if limits else ()
            term = Activation(number, eps).of(feature.residual, k.input(weight), sides)
            (inputs if name in ALONG_INPUT else state).add(term, feature.jacobian)
    for total, name, values, columns, mu in _barriers(k, state, inputs):
        if limits := bounds.of(name):
            with k.section(f"barrier of {name}"):
                lower, upper = limits
                total.add(barrier(values, lower, upper, mu), unit_rows(columns, total.width))
    k.output("value", state.value + inputs.value)
    for total, gradient, hessian in ((state, "grad_x", "hess_xx"), (inputs, "grad_u", "hess_uu")):
        with k.section(hessian):
            k.output(gradient, total.gradient())
            k.output(hessian, total.hessian(k))


def _features(k: KernelBuilder) -> Iterator[tuple[str, Feature, str]]:
    """Yield the terms: name, feature, and the input that has the weights.

    Those come first whose Hessian depends on weights and matrices alone, so that sums of it can be held.
    """
    x, u, nq = k.input("x"), k.input("u"), k.model.nq
    yield "linear_x", _linear_state(k, x), "Wx"
    yield "linear_u", linear(k.input("Au"), u, k.input("bu"), k.input("tu")), "Wu"
    yield "input", plain(u, k.input("u_des")), "R"
    yield "state", state_tangent(k, x, _turned(k, k.input("x_des"))), "Q"
    first, second = (FrameFeatures(k, cost_frame(k, number), x[:nq], x[nq:]) for number in (0, 1))
    yield "frame_pos", first.position(k.input("ee_des")), "W"
    yield "orientation", first.orientation(k.input("R_des")), "Wo"
    yield "velocity", first.velocity(k.input("v_des")), "Wv"
    yield "frame_pos_2", second.position(k.input("cf_des")), "Wcf"


def _turned(k: KernelBuilder, x: Values) -> Values:
    """Return a state in which quaternions of zeros, those of a target that is left out, are no rotation."""
    found = list(x)
    for kind, q0, _, nq, _ in k.model.coordinate_blocks:
        if kind != "scalar":
            quaternion = x[q0 + nq - 4 : q0 + nq]
            found[q0 + nq - 1] = select(less(0.0, dot(quaternion, quaternion)), quaternion[3], 1.0)
    return found


def _linear_state(k: KernelBuilder, x: Values) -> Feature:
    """Return a linear feature of the coordinates that simply add and of all velocities, along the tangent."""
    nq, nv, added = k.model.nq, k.model.nv, added_coordinates(k)
    plain_state = [*(x[q0] for q0, _ in added), *x[nq:]]
    columns = [*(v0 for _, v0 in added), *range(nv, 2 * nv)]
    feature = linear(k.input("Ax"), plain_state, k.input("bx"), k.input("tx"))
    jacobian = [[dict(zip(columns, row)).get(i, 0.0) for i in range(2 * nv)] for row in feature.jacobian]
    return replace(feature, jacobian=jacobian)


def _barriers(
    k: KernelBuilder, state: Total, inputs: Total
) -> Iterator[tuple[Total, str, Values, Sequence[int], Real]]:
    """Yield the barriers: along what they are, the name of their bounds, values with their columns, and weight."""
    x, u, nq, nv, mu = k.input("x"), k.input("u"), k.model.nq, k.model.nv, k.input("mu")
    added = added_coordinates(k)
    yield state, "q", [x[q0] for q0, _ in added], [v0 for _, v0 in added], mu[0]
    yield state, "qd", x[nq:], range(nv, 2 * nv), mu[1]
    yield inputs, "u", u, range(len(u)), mu[2]


def read_activations(robot: RobotView, given: Mapping[str, Any]) -> Any:  # noqa: ARG001
    """Return the numbers of the terms' activations; nothing if all are quadratic, whose kernel does less.

    Raises
    ------
    ArgumentError
        There is no such term or activation, or there are not as many as terms.
    """
    value = given["activation"]
    if value is None:
        return None
    if isinstance(value, Mapping):
        for term in value:
            if term not in TERMS:
                raise ArgumentError(
                    f"activation names a term {term!r}{nearest(str(term), TERMS)}; terms are {', '.join(TERMS)}"
                )
        value = [value.get(term, "quadratic") for term in TERMS]
    numbers = np.asarray(numbers_of(value))
    if numbers.ndim == 0 or numbers.shape[-1] != len(TERMS):
        raise ArgumentError(
            f"activation has shape {numbers.shape}, expected (..., {len(TERMS)}), one for each of {', '.join(TERMS)}, "
            "or a dict by term"
        )
    return numbers if numbers.any() else None


def _parameter(name: str, shape: tuple[str, ...], doc: str, *, held: bool = False) -> Input:
    """Return a parameter of the menu; what is left out is zero, and so is a term without weights."""
    return Input(name, shape, doc, absent=Absent.ZERO, keyword_only=True, held=held)


def _weights(name: str, width: str, of: str) -> Input:
    declared = weights(name, width, of)
    return _parameter(name, declared.shape, declared.doc, held=True)


PARAMETERS = (
    _parameter("ee_des", ("3",), "frame_pos: position of cost frame 0, the first end effector, to be at (m)"),
    _weights("W", "3", "frame_pos"),
    _parameter("x_des", ("nx",), "state: state to be at; a quaternion of zeros is no rotation"),
    _weights("Q", STATE, "state, along its tangent"),
    _parameter("u_des", (INPUT,), "input: input to have (N m, N)"),
    _weights("R", INPUT, "input"),
    _parameter(
        "Ax", ("mx", "nl+nv"), "linear_x: matrix of the coordinates that simply add, then of all velocities", held=True
    ),
    _parameter("bx", ("mx",), "linear_x: what is added", held=True),
    _parameter("tx", ("mx",), "linear_x: value to have"),
    _weights("Wx", "mx", "linear_x"),
    _parameter("Au", ("mu", INPUT), "linear_u: matrix of the inputs", held=True),
    _parameter("bu", ("mu",), "linear_u: what is added", held=True),
    _parameter("tu", ("mu",), "linear_u: value to have"),
    _weights("Wu", "mu", "linear_u"),
    _parameter("R_des", R_DES.shape, "orientation: rotation of cost frame 0 to have, from the frame to the world"),
    _weights("Wo", "3", "orientation, a rotation vector"),
    _parameter("v_des", V_DES.shape, f"velocity: of cost frame 0, {V_DES.doc}"),
    _weights("Wv", "6", "velocity"),
    _parameter("cf_des", ("3",), "frame_pos_2: position of cost frame 1 to be at (m)"),
    _weights("Wcf", "3", "frame_pos_2"),
    _parameter("mu", ("3",), "weights of the logarithmic barriers of positions, velocities and inputs", held=True),
)

ALGORITHMS = (
    Algorithm(
        name="tracking_cost_menu",
        family="plant",
        summary="Eight terms and three barriers together, every target, weight, bound and activation at run time.",
        inputs=(
            X,
            Input("u", (INPUT,), "input, without those of a free base (N m, N)"),
            *PARAMETERS,
            Input(
                "activation",
                (str(len(TERMS)),),
                f"activations of {', '.join(TERMS)}: 'none', {', '.join(map(repr, KINDS))} or their numbers, one for "
                "each term, or a dict by term; all 'quadratic' if left out, which is cheaper",
                absent=Absent.VARIANT,
                keyword_only=True,
                read=read_activations,
                held=True,
            ),
            Input(
                "eps",
                (str(len(TERMS)),),
                "scale or relaxation of each term's activation, positive",
                default=1.0,
                keyword_only=True,
                held=True,
            ),
            Input(
                "bounds",
                ("2", "+".join(BOUNDED.values())),
                f"lower and upper bounds of {', '.join(BOUNDED)} one after another, the last three for the barriers; "
                "infinite ones are none, and left out all are",
                absent=Absent.VARIANT,
                keyword_only=True,
                held=True,
            ),
        ),
        outputs=(
            Output("value", (), "cost"),
            Output("grad_x", (STATE,), "derivative along the tangent [dq; dqd]"),
            Output("grad_u", (INPUT,), "derivative along u"),
            Output("hess_xx", (STATE, STATE), "second derivative along the tangent, that of Gauss and Newton"),
            Output("hess_uu", (INPUT, INPUT), "second derivative along u; there is none along both"),
        ),
        emit=emit_menu,
        requires=("frame_motion",),
        profiles=("plant",),
        needs=("cost_frames",),
        notes="A term without weights costs nothing. The state is measured by its tangent, which is x - x_des where "
        "coordinates simply add; rotations and free bases have no bounds.",
        source=SOURCE,
    ),
)
