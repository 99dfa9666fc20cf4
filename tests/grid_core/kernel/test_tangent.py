"""Derivatives along inputs by automatic differentiation, against differences along the model's retraction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from grid_core.errors import TraceError
from grid_core.kernel import KernelBuilder, evaluate, trace_algorithm
from grid_core.model import Model, load_model
from grid_core.plugins.algorithm import Algorithm, Input, Output
from grid_core.trace import less, maximum, select, sqrt

STEP = 1e-6
INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
LINK = f'<link name="{{}}"><inertial><mass value="1"/>{INERTIA}</inertial></link>'
JOINT = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{0}"/><origin xyz="0.1 0.2 0.3"/>{3}</joint>'
PARTS = [
    ("ball", "spherical", "base", ""),
    ("hinge", "revolute", "ball", '<axis xyz="0 0.6 0.8"/><limit lower="-2" upper="2" effort="1" velocity="1"/>'),
    ("slide", "prismatic", "hinge", '<axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/>'),
    ("tip", "continuous", "slide", '<axis xyz="0 1 0"/><mimic joint="hinge" multiplier="-0.5" offset="0.2"/>'),
]
ROBOT = (
    '<robot name="parts">'
    + "".join(LINK.format(name) for name in ("base", *(part[0] for part in PARTS)))
    + "".join(JOINT.format(*part) for part in PARTS)
    + "</robot>"
)
Q = Input("q", ("nq",), "configuration", tangent="configuration")


@pytest.fixture(scope="module")
def robot() -> Model:
    return load_model(ROBOT, floating_base=True)


def poses(k: KernelBuilder, q: Any) -> list[Any]:
    """The pose of every body in its parent, all entries: something that depends on every coordinate."""
    found: list[Any] = []
    for i in range(k.model.nb):
        transform = k.tree.transform(i, q)
        found += [*transform.translation, *(x for row in transform.rotation for x in row)]
    return found


def many(k: KernelBuilder, q: Any) -> list[Any]:
    return poses(k, q)


def one(k: KernelBuilder, q: Any) -> list[Any]:
    return [sum((i + 1.0) * x for i, x in enumerate(poses(k, q)))]


def branching(k: KernelBuilder, q: Any) -> list[Any]:
    (x,) = one(k, q)
    return [select(less(x, -1e9), 1.0 / sqrt(-maximum(x, 0.0)), x * x)]


@pytest.mark.parametrize("function", [many, one, branching])
def test_columns_are_those_of_the_tangent(robot: Model, function: Any) -> None:
    rows: list[int] = []

    def emit(k: KernelBuilder) -> None:
        values = function(k, k.input("q"))
        rows.append(len(values))
        k.output("y", (values + [0.0] * 100)[:100])
        k.output("d", k.jacobian(values, "q") + [[0.0] * k.model.nv] * (100 - len(values)))

    outputs = (Output("y", ("100",), "values"), Output("d", ("100", "nv"), "derivatives"))
    kernel = trace_algorithm(Algorithm("f", "test", "f.", (Q,), outputs, emit), robot, {})
    q = robot.random(1, 4)
    q[:, 3:7] *= 1.7  # the length of a quaternion has no meaning

    def values(at: NDArray[np.float64]) -> NDArray[np.float64]:
        return evaluate(kernel, {"q": at})["y"][:, : rows[0]]

    found = evaluate(kernel, {"q": q})["d"].reshape(4, 100, robot.nv)[:, : rows[0]]
    for slot in range(robot.nv):
        step = np.eye(robot.nv)[slot] * STEP
        expected = (values(robot.integrate(q, step)) - values(robot.integrate(q, -step))) / (2.0 * STEP)
        np.testing.assert_allclose(found[:, :, slot], expected, atol=1e-6 * max(1.0, float(np.abs(expected).max())))


def test_other_inputs_have_one_column_per_scalar(robot: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        ((a, b), (c, d)) = k.input("m")
        k.output("d", k.jacobian([[a * b], [c * d + a]], "m"))

    matrix = Input("m", ("2", "2"), "matrix")
    algorithm = Algorithm("f", "test", "f.", (matrix,), (Output("d", ("2", "4"), "derivatives"),), emit)
    found = evaluate(trace_algorithm(algorithm, robot, {}), {"m": np.array([[2.0, 3.0, 5.0, 7.0]])})["d"]
    np.testing.assert_array_equal(found, [[3.0, 2.0, 0.0, 0.0, 1.0, 0.0, 7.0, 5.0]])


def test_derivatives_of_derivatives(robot: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        (x,) = k.input("x")
        ((slope,),) = k.jacobian(x * x * x, "x")
        k.output("d", k.jacobian(slope, "x")[0])

    algorithm = Algorithm("f", "test", "f.", (Input("x", ("1",), "x"),), (Output("d", ("1",), "d2"),), emit)
    np.testing.assert_array_equal(
        evaluate(trace_algorithm(algorithm, robot, {}), {"x": np.array([[5.0]])})["d"], [[30.0]]
    )


@pytest.mark.parametrize("arguments", [[1.0, 2.0], "twice"], ids=["constant", "repeated"])
def test_there_must_be_something_to_vary(robot: Model, arguments: Any) -> None:
    def inner(k: KernelBuilder) -> None:
        k.output("y", k.jacobian(k.input("x")[0] * 2.0, "x")[0])

    def outer(k: KernelBuilder) -> None:
        (x,) = k.input("z")
        k.output("w", k.call("inner", x=[x, x] if arguments == "twice" else arguments))

    callee = Algorithm("inner", "test", "f.", (Input("x", ("2",), "x"),), (Output("y", ("2",), "y"),), inner)
    caller = Algorithm(
        "outer", "test", "f.", (Input("z", ("1",), "z"),), (Output("w", ("2",), "w"),), outer, ("inner",)
    )
    with pytest.raises(TraceError, match=r"inner: input 'x' is constant or repeats"):
        trace_algorithm(caller, robot, {"inner": callee, "outer": caller})


def test_unknown_inputs_are_named(robot: Model) -> None:
    algorithm = Algorithm("f", "test", "f.", (Q,), (Output("d", (), "d"),), lambda k: k.jacobian(0.0, "p"))
    with pytest.raises(TraceError, match="declares no input 'p'"):
        trace_algorithm(algorithm, robot, {})
