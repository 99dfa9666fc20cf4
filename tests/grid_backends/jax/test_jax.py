"""The JAX handle: values, derivatives of both orders and modes, transforms, and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from grid_backends.errors import NotAvailableError, StaleModelError
from grid_core.errors import ArgumentError, NoDerivativeError, OptionError
from tests.grid_backends.robots import URDF

jax = pytest.importorskip("jax", reason="JAX is not installed")

EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-10}


@pytest.fixture(scope="module", autouse=True)
def _double() -> Iterator[None]:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.fixture(scope="module", params=["fixed", "floating"])
def robot(request: pytest.FixtureRequest, compiled: Callable[..., Any], _double: None) -> Any:
    return compiled(URDF, backend="jax", dtype="float64", floating_base=request.param == "floating")


@pytest.fixture(scope="module")
def numpy_robot(robot: Any, compiled: Callable[..., Any]) -> Any:
    return compiled(URDF, dtype="float64", floating_base=robot.floating_base)


def motion(robot: Any, batch: int = 3) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(0)
    return robot.random(seed=1, n=batch), *map(jax.numpy.asarray, random.standard_normal((2, batch, robot.nv)))


def host(arrays: Any) -> list[Any]:
    return [np.asarray(array) for array in arrays]


def test_values_are_those_of_numpy(robot: Any, numpy_robot: Any) -> None:
    q, qd, qdd = motion(robot)
    expected = numpy_robot.inverse_dynamics(*host((q, qd, qdd[0])))
    np.testing.assert_array_equal(robot.inverse_dynamics(q, qd, qdd[0]), expected)
    np.testing.assert_array_equal(jax.jit(robot.inverse_dynamics)(q, qd, qdd[0]), expected)
    np.testing.assert_array_equal(robot.crba(q[0]), numpy_robot.crba(np.asarray(q[0])))
    stacked = robot.crba(jax.numpy.broadcast_to(q, (2, *q.shape)))
    assert stacked.shape == (2, 3, robot.nv, robot.nv)
    result = robot.com(q)
    assert type(result).__name__ == "Com"
    np.testing.assert_array_equal(result.jacobian, numpy_robot.com(np.asarray(q)).jacobian)
    assert robot.crba(q[:0]).shape == (0, robot.nv, robot.nv)
    shapes = jax.eval_shape(robot.com, q)
    assert (shapes.position.shape, shapes.position.dtype) == ((3, 3), np.float64)
    with jax.disable_jit():
        np.testing.assert_array_equal(robot.inverse_dynamics(q, qd, qdd[0]), expected)


CASES: dict[str, Callable[..., Any]] = {
    "inverse_dynamics": lambda r, q, qd, qdd: r.inverse_dynamics(q, qd, qdd),
    "forward_dynamics": lambda r, q, qd, u: r.forward_dynamics(q, qd, u, f_ext=np.linspace(0.0, 1.0, 6 * r.nb)),
    "integrator": lambda r, q, qd, u: r.integrator(q, qd, u, 0.01, integrator_type="semi_implicit_euler"),
    "com": lambda r, q, qd, qdd: r.com(q)[0] * qd.sum() * qdd.sum(),
}


@pytest.mark.parametrize("name", CASES)
def test_first_and_second_derivatives(robot: Any, name: str) -> None:
    from jax.test_util import check_grads

    check_grads(lambda *values: CASES[name](robot, *values), motion(robot, 2), order=2, rtol=1e-4, atol=1e-4)


def test_shared_arguments_and_those_with_defaults(robot: Any) -> None:
    from jax.test_util import check_grads

    q, qd, qdd = motion(robot)
    shared = (qdd[0], np.linspace(0.0, 1.0, 6 * robot.nb), np.array([0.3, 0.2, -9.0]), 0.02)

    def function(a: Any, f: Any, g: Any, dt: Any) -> Any:
        torque = robot.inverse_dynamics(q, qd, a, gravity=g, f_ext=f)
        return robot.integrator(q, qd, torque, dt, gravity=g)

    check_grads(function, shared, order=1, rtol=1e-5, atol=1e-5)


def test_transforms_keep_one_call(robot: Any) -> None:
    q, qd, qdd = motion(robot)
    mapped = jax.vmap(robot.inverse_dynamics, (0, 0, None))
    np.testing.assert_array_equal(mapped(q, qd, qdd[0]), robot.inverse_dynamics(q, qd, qdd[0]))
    assert str(jax.make_jaxpr(mapped)(q, qd, qdd[0])).count("grid_rbd[") == 1
    nested = jax.vmap(jax.vmap(robot.inverse_dynamics, (0, None, 0)), (None, 1, None))(q, qd.T, qdd)
    np.testing.assert_array_equal(nested[1], robot.inverse_dynamics(q, jax.numpy.tile(qd[1], (3, 1)), qdd))
    of_batches = jax.vmap(robot.inverse_dynamics, (0, None, None))(jax.numpy.stack([q, q[::-1]]), qd, qdd[0])
    np.testing.assert_array_equal(of_batches[1], robot.inverse_dynamics(q[::-1], qd, qdd[0]))
    gradient = robot.inverse_dynamics_gradient(q[0], qd[0], qdd[0])
    for jacobian in (jax.jacfwd, jax.jacrev):
        found = jax.jit(jacobian(robot.inverse_dynamics, 1))(q[0], qd[0], qdd[0])
        np.testing.assert_allclose(found, gradient[:, robot.nv :], **EXACT)
    hessian = jax.hessian(lambda qd: robot.inverse_dynamics(q[0], qd)[0])(qd[0])
    np.testing.assert_allclose(hessian, hessian.T, **EXACT)


def test_methods_that_call_others(robot: Any, numpy_robot: Any) -> None:
    q, qd, u = motion(robot)
    controls = jax.numpy.stack([u, -u, 0.5 * u], 1)
    expected = numpy_robot.rollout(*host((q, qd, controls)), 0.01)
    np.testing.assert_allclose(robot.rollout(q, qd, controls, 0.01), expected, rtol=1e-13, atol=1e-13)
    slopes = jax.grad(lambda u: (robot.rollout(q, qd, u, 0.01)[:, -1] ** 2).sum())(controls)
    assert np.abs(slopes).min() > 0.0
    assert robot.rollout_gradient(q, qd, controls, 0.01).ab.shape == (3, 3, 2 * robot.nv, 3 * robot.nv)
    assert robot.rollout(q, qd, controls[:, :0], 0.01).shape == (3, 1, robot.nq + robot.nv)
    x = jax.numpy.concatenate([q, qd], -1)
    np.testing.assert_array_equal(robot.plant_step(x, u, 0.01), robot.integrator(q, qd, u, 0.01))
    poses = robot.end_effector_pose_runtime(q, ["ball", "hinge"])
    np.testing.assert_array_equal(poses, numpy_robot.end_effector_pose_runtime(np.asarray(q), ["ball", "hinge"]))


def test_parameters_are_constants_or_arguments(compiled: Callable[..., Any]) -> None:
    from jax.test_util import check_grads

    robot = compiled(URDF, backend="jax", dtype="float64", runtime_inertia=True)
    q, qd, qdd = motion(robot)
    table = robot.inertia_params
    check_grads(lambda p: robot.inverse_dynamics(q, qd, qdd, inertia_params=p), (table,), order=2, rtol=1e-5, atol=1e-5)
    constant = jax.jit(robot.inverse_dynamics)
    argument = jax.jit(lambda p: robot.inverse_dynamics(q, qd, qdd, inertia_params=p))
    before = constant(q, qd, qdd)
    np.testing.assert_array_equal(before, argument(table))
    traced = jax.jit(robot.crba).trace(q)
    robot.set_inertia_params(2.0 * table)
    stale = (ValueError, jax.errors.JaxRuntimeError)  # which one depends on how JAX runs the program
    with pytest.raises(stale, match="parameters of the robot that were changed since"):
        constant(q, qd, qdd).block_until_ready()
    with pytest.raises(StaleModelError, match="traced with parameters that were changed since"):
        traced.lower()
    twice = constant(q[:2], qd[:2], qdd[:2])  # another shape is traced again
    np.testing.assert_allclose(twice, 2.0 * before[:2], **EXACT)
    np.testing.assert_array_equal(argument(table), before)
    jax.clear_caches()
    now = constant(q, qd, qdd)
    np.testing.assert_allclose(now, 2.0 * before, **EXACT)
    np.testing.assert_array_equal(robot.inverse_dynamics(q, qd, qdd), now)


def test_export(robot: Any) -> None:
    q, *_ = motion(robot)
    from jax import export

    allowed = [export.DisabledSafetyCheck.custom_call("grid_rbd")]
    exported = export.export(jax.jit(robot.crba), disabled_checks=allowed)(q)
    np.testing.assert_array_equal(exported.call(q), robot.crba(q))
    pytest.importorskip("flatbuffers", reason="JAX serialises with flatbuffers, which are not installed")
    again = export.deserialize(exported.serialize())
    np.testing.assert_array_equal(again.call(q), robot.crba(q))


def test_what_is_refused(robot: Any, compiled: Callable[..., Any]) -> None:
    q, qd, qdd = motion(robot)
    with pytest.raises(ArgumentError, match=r"argument 'qd' has shape \(2,\), expected shape \(\.\.\., nv\)"):
        robot.inverse_dynamics(q, qd[0, :2])
    with pytest.raises(ArgumentError, match=r"'qdd' has batch shape \(2,\), expected \(3,\) as for 'q'"):
        robot.inverse_dynamics(q, qd, qdd[:2])
    with pytest.raises(ArgumentError, match="argument 'q' has dtype complex128"):
        robot.crba(q + 0j)
    with pytest.raises(NoDerivativeError, match="'ee_offsets' is read before the call"):
        jax.grad(lambda o: robot.end_effector_pose_runtime(q, ["ball"], o).sum())(np.zeros(3))
    with pytest.raises(NotAvailableError, match="no 'is_pinned': frameworks own the memory"):
        robot.is_pinned(q)
    with pytest.raises(OptionError, match="backend='jax' calls compiled units"):
        compiled(URDF, backend="jax", device="reference")
    assert robot.crba(q.astype(np.float32)).dtype == np.float64
    assert robot.backend == "jax"
    assert isinstance(robot.neutral(), jax.Array)


def test_double_precision_has_to_be_enabled(compiled: Callable[..., Any]) -> None:
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(OptionError, match="'jax_enable_x64', True"):
            compiled(URDF, backend="jax", dtype="float64", friction_model="sign")
        single = compiled(URDF, backend="jax")
        q = single.random(seed=0, n=2)
        assert single.crba(q).dtype == np.float32
    finally:
        jax.config.update("jax_enable_x64", True)
