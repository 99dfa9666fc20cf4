"""Derivatives against automatic differentiation of the values, on random trees and robots, and against differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from grid_core.kernel import evaluate, trace_algorithm
from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model
from grid_core.plugins.algorithm import Algorithm, Input, Output
from grid_core.trace import Real, Scalar, jvp
from grid_core.trace.linalg import Vector, cross, matvec, plus, rotation_of_quaternion, scale
from tests.oracle.derivatives import slope
from tests.oracle.evaluation import Array, Reference, algorithms, quiet_model
from tests.oracle.poses import error, kinematic_inputs, with_contacts
from tests.oracle.robots import GOLDEN, HUMANOIDS, TREES
from tests.oracle.trees import trees

quick = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
robots = st.builds(lambda text, free: quiet_model(text, floating_base=free), trees(), st.booleans()).filter(
    lambda model: model.nv > 0
)
NAMED = {**GOLDEN, **TREES, "humanoid29": HUMANOIDS["humanoid29"]}
FIRST = {
    "end_effector_pose": "end_effector_pose_gradient",
    "end_effector_log_pose": "end_effector_log_pose_gradient",
    "contact_fext": "contact_fext_gradient",
}


def traced(emit: Callable[[KernelBuilder], None], like: Algorithm, more: tuple[Input, ...], shape: Any) -> Algorithm:
    """Return an algorithm with one output ``y`` that calls another one."""
    inputs = (*like.inputs, *more)
    return replace(
        like,
        name="test_case",
        aliases=(),
        inputs=inputs,
        outputs=(Output("y", shape, ""),),
        emit=emit,
        requires=(like.name,),
    )


def run(algorithm: Algorithm, model: Model, chosen: TraceSettings, inputs: Mapping[str, Array]) -> Array:
    known = {**algorithms(), algorithm.name: algorithm}
    return evaluate(trace_algorithm(algorithm, model, known, chosen), inputs)["y"]


def gradient_by_ad(name: str, model: Model, chosen: TraceSettings, inputs: Mapping[str, Array]) -> Array:
    like = algorithms()[name]

    def emit(k: KernelBuilder) -> None:
        value = k.call(name, **{i.name: k.input(i.name) for i in like.inputs})
        k.output("y", k.jacobian(value, "q"))

    return run(traced(emit, like, (), ("*".join(like.outputs[0].shape), "nv")), model, chosen, inputs)


def moved(model: Model, q: list[Real], v: list[Real]) -> list[Real]:
    """Return ``q (+) v`` up to second order in ``v``."""
    result: list[Real] = [0.0] * model.nq
    for kind, q0, v0, nq, nv in model.configuration_layout:
        if kind == "euclidean":
            result[q0 : q0 + nq] = [a + b for a, b in zip(q[q0 : q0 + nq], v[v0 : v0 + nv], strict=True)]
            continue
        turn, (x, y, z, w) = tuple(v[v0 + nv - 3 : v0 + nv]), q[q0 + nq - 4 : q0 + nq]
        a, b, c = scale(turn, 0.5)
        d = 1.0 - 0.125 * sum((t * t for t in turn), 0.0)
        if kind == "floating":
            shift: Vector = tuple(v[v0 : v0 + 3])
            shift = plus(shift, scale(cross(turn, shift), 0.5))
            result[q0 : q0 + 3] = plus(tuple(q[q0 : q0 + 3]), matvec(rotation_of_quaternion((x, y, z, w)), shift))
        result[q0 + nq - 4 : q0 + nq] = [
            w * a + x * d + y * c - z * b,
            w * b - x * c + y * d + z * a,
            w * c + x * b - y * a + z * d,
            w * d - x * a - y * b - z * c,
        ]
    return result


def hessian_by_ad(model: Model, chosen: TraceSettings, inputs: Mapping[str, Array]) -> Array:
    like = algorithms()["end_effector_pose"]

    def emit(k: KernelBuilder) -> None:
        v: list[Scalar] = k.input("v")
        pose = k.call("end_effector_pose", q=moved(k.model, k.input("q"), v))
        first = [jvp(pose, {x: 1.0}) for x in v]
        second = [[jvp(rates, {x: 1.0}) for x in v] for rates in first]
        k.output("y", [[[second[i][j][r] for j in range(len(v))] for i in range(len(v))] for r in range(len(pose))])

    algorithm = traced(emit, like, (Input("v", ("nv",), ""),), ("6*nee", "nv", "nv"))
    return run(algorithm, model, chosen, {"q": inputs["q"]})  # v is left out: zero


def level(model: Model, chosen: TraceSettings, q: Array) -> Array:
    """Return the samples at which no end effector is near a pitch of 90 degrees or a turn of 180 degrees."""
    reference = Reference(model, chosen)
    pitch = reference("end_effector_pose", q=q).reshape(len(q), -1, 6)[:, :, 4]
    turn = np.linalg.norm(reference("end_effector_log_pose", q=q)[:, :, 3:], axis=2)
    return np.asarray((np.abs(np.cos(pitch)) > 0.05).all(axis=1) & (turn < 3.1).all(axis=1))


def check_first(model: Model, seed: int, n: int) -> None:
    chosen = with_contacts(model)
    inputs = kinematic_inputs(model, chosen, seed, n)
    good = level(model, chosen, inputs["q"])
    reference = Reference(model, chosen)
    for value, gradient in FIRST.items():
        names = [i.name for i in algorithms()[value].inputs]
        if "f_c" in names and not chosen.contact_frames:
            continue
        given_inputs = {name: inputs[name][good] for name in names}
        exact = gradient_by_ad(value, model, chosen, given_inputs)
        found = reference(gradient, **given_inputs).reshape(exact.shape)
        assert error("", found, exact) < 1e-10, gradient


def check_second(model: Model, seed: int, n: int) -> None:
    inputs = {"q": kinematic_inputs(model, TraceSettings(), seed, n)["q"]}
    inputs["q"] = inputs["q"][level(model, TraceSettings(), inputs["q"])]
    hessian = Reference(model)("end_effector_pose_hessian", **inputs)
    assert error("", hessian, hessian_by_ad(model, TraceSettings(), inputs).reshape(hessian.shape)) < 1e-10
    np.testing.assert_array_equal(hessian, hessian.swapaxes(2, 3))


@pytest.mark.parametrize("label", NAMED)
def test_gradients_of_robots(label: str) -> None:
    check_first(NAMED[label].model(), 3, 6)


@pytest.mark.parametrize("label", [label for label in NAMED if label not in HUMANOIDS])
def test_hessians_of_robots(label: str) -> None:
    check_second(NAMED[label].model(), 3, 6)


@given(model=robots, seed=st.integers(0, 2**16))
@quick
def test_random_trees(model: Model, seed: int) -> None:
    for chosen in (with_contacts(model), TraceSettings()):
        assume(level(model, chosen, kinematic_inputs(model, chosen, seed, 2)["q"]).any())
    check_first(model, seed, 2)
    check_second(model, seed, 2)


@given(model=robots, seed=st.integers(0, 2**16))
@quick
def test_rates_of_jacobians_by_differences(model: Model, seed: int) -> None:
    """The Jacobian along the flow of ``qd``, for the first end effector and for chosen frames in all axes."""
    reference, inputs = Reference(model), kinematic_inputs(model, TraceSettings(), seed, 3)
    q, qd = inputs["q"][:3], inputs["qd"][:3]
    frame = model.frames[seed % len(model.frames)]
    target = [float(frame.body), *frame.placement.rotation.flat, *frame.placement.translation]
    for choice in ({}, *({"target_jid": np.tile(target, (3, 1)), "reference_frame": np.full(3, r)} for r in (0, 1, 2))):
        there = lambda t, choice=choice: reference("frame_jacobian", q=model.integrate(q, t * qd), **choice)  # noqa: E731
        rate = reference("frame_jacobian_dot", q=q, qd=qd, **choice)
        assert error("", rate, slope(there, 1e-3)) < 1e-8


@given(model=robots, seed=st.integers(0, 2**16))
@quick
def test_gradients_by_differences(model: Model, seed: int) -> None:
    reference, q = Reference(model), kinematic_inputs(model, TraceSettings(), seed, 4)["q"][:4]
    q = q[level(model, TraceSettings(), q)]
    assume(len(q) > 0)
    gradient = reference("end_effector_log_pose_gradient", q=q)
    for k in range(model.nv):
        along = lambda t, k=k: reference("end_effector_log_pose", q=model.integrate(q, t * np.eye(model.nv)[k]))  # noqa: E731
        assert error("", gradient[..., k], slope(along, 1e-3)) < 1e-7
