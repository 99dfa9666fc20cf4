"""Quadratic costs of states, inputs, end effector, centre of mass and momentum; weights are diagonal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grid_core.errors import ArgumentError
from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.tangent import configuration_directions, derivatives, plain_directions
from grid_core.plugins.algorithm import Absent, Algorithm, Input
from grid_core.plugins.robot_view import RobotView
from grid_core.trace.linalg import Matrix, dot, minus
from grid_core.trace.scalar import Real
from grid_plugins.plant.activations import Activation
from grid_plugins.plant.congruence import congruence
from grid_plugins.plant.features import FrameFeatures, cost_frame, plain, state_tangent
from grid_plugins.plant.signature import P_DES, QD, U_DES, W3, X_DES, Q, U, X, weights
from grid_plugins.plant.terms import Feature, Term, Values, embedded, outputs

EMBEDDED = (
    "Hessians are those of Gauss and Newton. Derivatives along the tangent fill the first nv entries; the rest is zero."
)


def put(k: KernelBuilder, term: Term, feature: Feature) -> None:
    """Set the outputs of a cost."""
    k.output("value", term.value)
    k.output("grad", term.gradient(feature.jacobian))
    k.output("hess", gauss_newton(k, term, feature.jacobian))


def gauss_newton(k: KernelBuilder, term: Term, jacobian: Sequence[Values]) -> Matrix:
    """Return the matrix ``J^T diag(a'') J`` for the residual's Jacobian ``J``."""
    return congruence(k, jacobian, term.curvatures, len(jacobian[0]) if jacobian else 0)


def _put_embedded(k: KernelBuilder, residual: Values, jacobian: Sequence[Values]) -> None:
    """Set outputs as wide as a state from derivatives along the tangent of the configuration."""
    term, width = Activation().of(residual, k.input("W")), k.model.nq + k.model.nv
    gradient = term.gradient(jacobian)
    k.output("value", term.value)
    k.output("grad", [*gradient, *[0.0] * (width - len(gradient))])
    k.output("hess", embedded(gauss_newton(k, term, jacobian), width))


def emit_state(k: KernelBuilder) -> None:
    feature = plain(k.input("x"), k.input("x_des"))
    put(k, Activation().of(feature.residual, k.input("Q")), feature)


def emit_input(k: KernelBuilder) -> None:
    feature = plain(k.input("u"), k.input("u_des"))
    put(k, Activation().of(feature.residual, k.input("R")), feature)


def emit_state_tangent(k: KernelBuilder) -> None:
    x = k.input("x")
    feature = state_tangent(k, x, k.input("x_des"))
    put(k, term := Activation().of(feature.residual, k.input("Q")), feature)
    if k.has("full_newton"):
        k.output("hess", newton(k, x, term.gradient(feature.jacobian)))


def newton(k: KernelBuilder, x: Values, gradient: Values) -> list[list[Real]]:
    """Return the second derivative of ``v -> cost(x (+) v)`` at zero from the gradient along the tangent.

    The gradient's own derivative is taken in tangents that move with ``x``; its symmetric part is the second derivative
    along the geodesics of one fixed tangent.
    """
    nq = k.model.nq
    along = configuration_directions(k.model, x[:nq], "the configuration")
    rows = derivatives(gradient, [*along, *plain_directions(x[nq:], "the velocity")])
    return [[0.5 * (rows[i][j] + rows[j][i]) for j in range(len(rows))] for i in range(len(rows))]


def read_full_newton(robot: RobotView, given: Mapping[str, Any]) -> float | None:  # noqa: ARG001
    """Return a number if the full second derivative is asked for, else nothing.

    Raises
    ------
    ArgumentError
        It is no truth value.
    """
    value = given["full_newton"]
    if value is not None and not isinstance(value, bool):
        raise ArgumentError(f"full_newton is {value!r}, expected True or False")
    return 1.0 if value else None


def emit_end_effector(k: KernelBuilder) -> None:
    feature = FrameFeatures(k, cost_frame(k, 0), k.input("q")).position(k.input("p_des"))
    _put_embedded(k, feature.residual, [row[: k.model.nv] for row in feature.jacobian])


def emit_com(k: KernelBuilder) -> None:
    com = k.call("com", q=k.input("q"))
    _put_embedded(k, minus(tuple(com["position"]), tuple(k.input("p_des"))), com["jacobian"])


def emit_momentum(k: KernelBuilder) -> None:
    q, qd = k.input("q"), k.input("qd")
    momentum, by_q = k.call("ccrba", q=q, qd=qd), k.call("dccrba", q=q)
    bent = [[dot(column, qd) for column in zip(*row)] for row in by_q]
    jacobian = [(*left, *right) for left, right in zip(bent, momentum["matrix"])]
    feature = Feature(minus(tuple(momentum["momentum"]), tuple(k.input("h_des"))), jacobian)
    put(k, Activation().of(feature.residual, k.input("W")), feature)


ALGORITHMS = (
    Algorithm(
        name="quadratic_state_cost",
        family="plant",
        summary="Cost of a state: sum_i Q_i (x_i - x_des_i)^2 / 2.",
        inputs=(X, X_DES, weights("Q", "nx", "the state")),
        outputs=outputs("nx", "x"),
        emit=emit_state,
        profiles=("plant",),
        notes="Quaternions are subtracted as they are stored; quadratic_state_cost_tangent measures rotations.",
    ),
    Algorithm(
        name="quadratic_state_cost_tangent",
        family="plant",
        summary="Cost of a state by its tangent [difference(q_des, q); qd - qd_des], weighted and squared, halved.",
        inputs=(
            X,
            X_DES,
            weights("Q", "2*nv", "the tangent"),
            Input(
                "full_newton",
                (),
                "whether the Hessian is the whole second derivative, which may be indefinite, instead of that of Gauss "
                "and Newton, the default",
                absent=Absent.VARIANT,
                keyword_only=True,
                read=read_full_newton,
            ),
        ),
        outputs=outputs("2*nv", "the tangent [dq; dqd]"),
        emit=emit_state_tangent,
        profiles=("plant",),
        notes="The whole second derivative is that of v -> cost(x (+) v) at zero. Both are the same where coordinates "
        "simply add.",
    ),
    Algorithm(
        name="quadratic_input_cost",
        family="plant",
        summary="Cost of an input: sum_i R_i (u_i - u_des_i)^2 / 2.",
        inputs=(U, U_DES, weights("R", "nv", "the input")),
        outputs=outputs("nv", "u"),
        emit=emit_input,
        profiles=("plant",),
    ),
    Algorithm(
        name="ee_pos_cost",
        family="plant",
        summary="Cost of the position of the first end effector: sum_i W_i (p_i - p_des_i)^2 / 2.",
        inputs=(Q, P_DES, W3),
        outputs=outputs("nx", "the tangent, in the width of a state"),
        emit=emit_end_effector,
        requires=("frame_motion",),
        profiles=("plant",),
        notes=EMBEDDED,
    ),
    Algorithm(
        name="com_cost",
        family="plant",
        summary="Cost of the position of the centre of mass: sum_i W_i (p_i - p_des_i)^2 / 2.",
        inputs=(Q, P_DES, W3),
        outputs=outputs("nx", "the tangent, in the width of a state"),
        emit=emit_com,
        requires=("com",),
        profiles=("plant",),
        notes=EMBEDDED,
    ),
    Algorithm(
        name="momentum_cost",
        family="plant",
        summary="Cost of the centroidal momentum h = A(q) qd: sum_i W_i (h_i - h_des_i)^2 / 2.",
        inputs=(
            Q,
            QD,
            Input(
                "h_des",
                ("6",),
                "momentum to have, linear and angular about the centre of mass, world axes (N s, N m s)",
            ),
            weights("W", "6", "the momentum"),
        ),
        outputs=outputs("2*nv", "the tangent [dq; dqd]"),
        emit=emit_momentum,
        requires=("ccrba", "dccrba"),
        profiles=("plant",),
        notes="With J = [(dA/dq) qd | A] the gradient is J^T W r and the Hessian J^T W J, that of Gauss and Newton.",
    ),
)
