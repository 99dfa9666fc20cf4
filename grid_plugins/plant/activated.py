"""Costs of states, inputs, linear features and frames under any activation."""

from __future__ import annotations

import math
from collections.abc import Callable

from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Absent, Algorithm, Input
from grid_core.plugins.frames import NUMBERS
from grid_plugins.plant.activations import KINDS, Activation, read_activation
from grid_plugins.plant.costs import put
from grid_plugins.plant.features import (
    FrameFeatures,
    bounded,
    cost_frame,
    linear,
    plain,
    read_frame,
    state_tangent,
)
from grid_plugins.plant.signature import P_DES, QD, R_DES, U_DES, V_DES, W3, X_DES, Q, U, X, weights
from grid_plugins.plant.terms import Feature, Values, outputs

FRAME = Input(
    "frame",
    NUMBERS,
    "frame: the name of a joint or link, or the id of a movable joint; left out, the first end effector",
    absent=Absent.VARIANT,
    keyword_only=True,
    read=read_frame,
)
ACTIVATION = Input(
    "activation",
    (),
    f"'none', {', '.join(map(repr, KINDS))}, its number, or one for each sample; 'quadratic' if left out",
    keyword_only=True,
    read=read_activation,
)
EPS = Input(
    "eps",
    (),
    "scale of 'pseudo_huber' and 'smooth_hinge', relaxation of 'relaxed_log_barrier'; positive",
    default=1.0,
    keyword_only=True,
)
NOTES = "The Hessian is that of Gauss and Newton. Bounds are of values, not of residuals; infinite ones are none."
SOURCE = (
    "Charbonnier et al., Two deterministic half-quadratic regularization algorithms for computed imaging, 1994; "
    "Grandia et al., Feedback MPC for torque-controlled legged robots, 2019"
)


def bounds(width: str, of: str) -> tuple[Input, Input]:
    """Return the bounds of values."""
    return (
        Input("lower", (width,), f"lower bounds of {of}, for barriers", default=-math.inf, keyword_only=True),
        Input("upper", (width,), f"upper bounds of {of}, for barriers", default=math.inf, keyword_only=True),
    )


def _linear(rows: str, columns: str) -> tuple[Input, ...]:
    """Return what makes a linear feature, its target and its weights."""
    return (
        Input("A", (rows, columns), "matrix of the feature"),
        Input("b", (rows,), "what is added to it"),
        Input("target", (rows,), "value to have"),
        weights("W", rows, "the feature"),
    )


def activated(k: KernelBuilder, feature: Feature, weight: str) -> None:
    """Set the outputs of a cost whose values have bounds, if they can have any."""
    sides = bounded(feature, k.input("lower"), k.input("upper")) if feature.values else ()
    put(k, Activation(k.input("activation"), k.input("eps")).of(feature.residual, k.input(weight), sides), feature)


def emit_state(k: KernelBuilder) -> None:
    activated(k, plain(k.input("x"), k.input("x_des")), "Q")


def emit_state_tangent(k: KernelBuilder) -> None:
    activated(k, state_tangent(k, k.input("x"), k.input("x_des")), "Q")


def emit_input(k: KernelBuilder) -> None:
    activated(k, plain(k.input("u"), k.input("u_des")), "R")


def emit_linear_x(k: KernelBuilder) -> None:
    activated(k, linear(k.input("A"), k.input("x"), k.input("b"), k.input("target")), "W")


def emit_linear_u(k: KernelBuilder) -> None:
    activated(k, linear(k.input("A"), k.input("u"), k.input("b"), k.input("target")), "W")


def _frame(k: KernelBuilder, qd: Values = ()) -> FrameFeatures:
    return FrameFeatures(k, k.input("frame") if k.has("frame") else cost_frame(k, 0), k.input("q"), qd)


def emit_frame_position(k: KernelBuilder) -> None:
    activated(k, _frame(k).position(k.input("p_des")), "W")


def emit_frame_orientation(k: KernelBuilder) -> None:
    activated(k, _frame(k).orientation(k.input("R_des")), "W")


def emit_frame_velocity(k: KernelBuilder) -> None:
    activated(k, _frame(k, k.input("qd")).velocity(k.input("v_des")), "W")


X_TANGENT = "the tangent [dq; dqd]"


def _cost(
    name: str,
    summary: str,
    emit: Callable[[KernelBuilder], None],
    inputs: tuple[Input, ...],
    derivative: tuple[str, str],
    requires: tuple[str, ...] = (),
    more: str = "",
) -> Algorithm:
    return Algorithm(
        name=name,
        family="plant",
        summary=summary,
        inputs=inputs,
        outputs=outputs(*derivative),
        emit=emit,
        requires=requires,
        profiles=("plant",),
        notes=f"{NOTES} {more}".strip(),
        source=SOURCE,
    )


ACTIVATED = (ACTIVATION, EPS)

ALGORITHMS = (
    _cost(
        "state_cost",
        "Cost of a state: activations of x - x_des.",
        emit_state,
        (X, X_DES, weights("Q", "nx", "the state"), *ACTIVATED, *bounds("nx", "the state")),
        ("nx", "x"),
        more="Quaternions are subtracted as they are stored; state_cost_tangent measures rotations.",
    ),
    _cost(
        "state_cost_tangent",
        "Cost of a state: activations of its tangent [difference(q_des, q); qd - qd_des].",
        emit_state_tangent,
        (X, X_DES, weights("Q", "2*nv", "the tangent"), *ACTIVATED, *bounds("2*nv", "the state, by its tangent")),
        ("2*nv", X_TANGENT),
        more="Free bases and spherical joints have no bounds; what is given for them is not read.",
    ),
    _cost(
        "input_cost",
        "Cost of an input: activations of u - u_des.",
        emit_input,
        (U, U_DES, weights("R", "nv", "the input"), *ACTIVATED, *bounds("nv", "the input")),
        ("nv", "u"),
    ),
    _cost(
        "linear_feature_cost_x",
        "Cost of a linear feature of the state: activations of A x + b - target.",
        emit_linear_x,
        (X, *_linear("mx", "nx"), *ACTIVATED, *bounds("mx", "A x + b")),
        ("nx", "x"),
        more="How many rows A has is an option of the build, cost_features.",
    ),
    _cost(
        "linear_feature_cost_u",
        "Cost of a linear feature of the input: activations of A u + b - target.",
        emit_linear_u,
        (U, *_linear("mu", "nv"), *ACTIVATED, *bounds("mu", "A u + b")),
        ("nv", "u"),
        more="How many rows A has is an option of the build, cost_features.",
    ),
    _cost(
        "frame_position_cost",
        "Cost of the position of a frame: activations of p(q) - p_des.",
        emit_frame_position,
        (Q, P_DES, W3, FRAME, *ACTIVATED, *bounds("3", "the position")),
        ("2*nv", X_TANGENT),
        ("frame_motion",),
    ),
    _cost(
        "frame_orientation_cost",
        "Cost of the orientation of a frame: activations of the rotation vector log(R_des^T R(q)).",
        emit_frame_orientation,
        (Q, R_DES, weights("W", "3", "the rotation vector"), FRAME, *ACTIVATED),
        ("2*nv", X_TANGENT),
        ("frame_motion",),
        more="A rotation vector has no bounds, so that barriers cost nothing. It jumps at half a turn.",
    ),
    _cost(
        "frame_velocity_cost",
        "Cost of the velocity of a frame: activations of J(q) qd - v_des.",
        emit_frame_velocity,
        (Q, QD, V_DES, weights("W", "6", "the velocity"), FRAME, *ACTIVATED, *bounds("6", "the velocity")),
        ("2*nv", X_TANGENT),
        ("frame_motion",),
        more="With the derivative of the Jacobian: J_x = [d(J qd)/dq | J].",
    ),
)
