"""Quadratic costs of states, inputs, end effector, centre of mass and momentum; weights are diagonal."""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.manifold import BlockDiagonal, difference, difference_jacobians
from grid_core.plugins.algorithm import Algorithm, Input
from grid_core.trace.linalg import dot, minus
from grid_plugins.plant.signature import QD, Q, U, X
from grid_plugins.plant.terms import Term, Values, embedded, outputs, quadratic

EMBEDDED = (
    "Hessians are those of Gauss and Newton. Derivatives along the tangent fill the first nv entries; the rest is zero."
)


def _target(name: str, width: str, doc: str) -> Input:
    return Input(name, (width,), doc)


def _set(k: KernelBuilder, term: Term, jacobian: Sequence[Values]) -> None:
    k.output("value", term.value)
    k.output("grad", term.gradient(jacobian))
    k.output("hess", term.hessian(jacobian))


def _set_plain(k: KernelBuilder, term: Term) -> None:
    """Set the outputs of a term whose residual is the variable less a target."""
    n = len(term.slopes)
    k.output("value", term.value)
    k.output("grad", term.slopes)
    k.output("hess", [[term.curvatures[i] if i == j else 0.0 for j in range(n)] for i in range(n)])


def _set_embedded(k: KernelBuilder, term: Term, jacobian: Sequence[Values]) -> None:
    """Set outputs as wide as a state from derivatives along the tangent of the configuration."""
    width = k.model.nq + k.model.nv
    gradient = term.gradient(jacobian)
    k.output("value", term.value)
    k.output("grad", [*gradient, *[0.0] * (width - len(gradient))])
    k.output("hess", embedded(term.hessian(jacobian), width))


def emit_state(k: KernelBuilder) -> None:
    _set_plain(k, quadratic(minus(tuple(k.input("x")), tuple(k.input("x_des"))), k.input("Q")))


def emit_input(k: KernelBuilder) -> None:
    _set_plain(k, quadratic(minus(tuple(k.input("u")), tuple(k.input("u_des"))), k.input("R")))


def emit_state_tangent(k: KernelBuilder) -> None:
    residual, jacobian = tangent_residual(k)
    _set(k, quadratic(residual, k.input("Q")), jacobian)


def tangent_residual(k: KernelBuilder) -> tuple[Values, list[Values]]:
    """Return ``[D(q_des, q); qd - qd_des]`` and its Jacobian along the tangent."""
    nq, nv = k.model.nq, k.model.nv
    x, x_des = k.input("x"), k.input("x_des")
    moved = difference(k.model, x_des[:nq], x[:nq])
    _, blocks = difference_jacobians(k.model, x_des[:nq], x[:nq])
    by_q = BlockDiagonal(nv, blocks).dense()
    top = [(*row, *[0.0] * nv) for row in by_q]
    bottom = [[float(j == nv + i) for j in range(2 * nv)] for i in range(nv)]
    return [*moved, *minus(tuple(x[nq:]), tuple(x_des[nq:]))], [*top, *bottom]


def emit_end_effector(k: KernelBuilder) -> None:
    q = k.input("q")
    position = k.call("end_effector_pose", q=q)[:3]
    jacobian = k.call("end_effector_pose_gradient", q=q)[:3]
    _set_embedded(k, quadratic(minus(tuple(position), tuple(k.input("p_des"))), k.input("W")), jacobian)


def emit_com(k: KernelBuilder) -> None:
    com = k.call("com", q=k.input("q"))
    residual = minus(tuple(com["position"]), tuple(k.input("p_des")))
    _set_embedded(k, quadratic(residual, k.input("W")), com["jacobian"])


def emit_momentum(k: KernelBuilder) -> None:
    q, qd = k.input("q"), k.input("qd")
    momentum, by_q = k.call("ccrba", q=q, qd=qd), k.call("dccrba", q=q)
    bent = [[dot(column, qd) for column in zip(*row)] for row in by_q]
    jacobian = [(*left, *right) for left, right in zip(bent, momentum["matrix"])]
    _set(k, quadratic(minus(tuple(momentum["momentum"]), tuple(k.input("h_des"))), k.input("W")), jacobian)


def _weights(name: str, width: str, of: str) -> Input:
    return Input(name, (width,), f"weight of each entry of {of}")


P_DES = _target("p_des", "3", "position to be at, in the world (m)")
W3 = _weights("W", "3", "the position")

ALGORITHMS = (
    Algorithm(
        name="quadratic_state_cost",
        family="plant",
        summary="Cost of a state: sum_i Q_i (x_i - x_des_i)^2 / 2.",
        inputs=(X, _target("x_des", "nx", "state to be at"), _weights("Q", "nx", "the state")),
        outputs=outputs("nx", "x"),
        emit=emit_state,
        profiles=("plant",),
        notes="Quaternions are subtracted as they are stored; quadratic_state_cost_tangent measures rotations.",
    ),
    Algorithm(
        name="quadratic_state_cost_tangent",
        family="plant",
        summary="Cost of a state by its tangent [difference(q_des, q); qd - qd_des], weighted and squared, halved.",
        inputs=(X, _target("x_des", "nx", "state to be at"), _weights("Q", "2*nv", "the tangent")),
        outputs=outputs("2*nv", "the tangent [dq; dqd]"),
        emit=emit_state_tangent,
        profiles=("plant",),
        notes="The Hessian is that of Gauss and Newton.",
    ),
    Algorithm(
        name="quadratic_input_cost",
        family="plant",
        summary="Cost of an input: sum_i R_i (u_i - u_des_i)^2 / 2.",
        inputs=(U, _target("u_des", "nv", "input to have (N m, N)"), _weights("R", "nv", "the input")),
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
        requires=("end_effector_pose", "end_effector_pose_gradient"),
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
            _target(
                "h_des", "6", "momentum to have, linear and angular about the centre of mass, world axes (N s, N m s)"
            ),
            _weights("W", "6", "the momentum"),
        ),
        outputs=outputs("2*nv", "the tangent [dq; dqd]"),
        emit=emit_momentum,
        requires=("ccrba", "dccrba"),
        profiles=("plant",),
        notes="With J = [(dA/dq) qd | A] the gradient is J^T W r and the Hessian J^T W J, that of Gauss and Newton.",
    ),
)
