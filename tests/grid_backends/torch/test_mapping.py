"""Methods under ``torch.func.vmap``, also compiled: one batched call, whatever is mapped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from grid_core.errors import NoDerivativeError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.func import vmap  # noqa: E402

from tests.grid_backends.torch.calls import BATCH, COMPILING, DOUBLE, Calls, motion, same, whole  # noqa: E402

pytestmark = COMPILING


MAPPED: dict[str, tuple[tuple[int | None, ...], int]] = {
    "all": ((0, 0, 0), 0),
    "shared": ((0, None, 0), 0),
    "one": ((None, None, 0), 0),
    "last": ((-1, -1, -1), -1),
    "mixed": ((1, 0, None), 1),
}


def mapped_case(robot: Any, name: str) -> tuple[Callable[..., Any], list[Any], Any]:
    """Return a mapped method, its arguments, and the batched result with the batch where ``out_dims`` wants it."""
    in_dims, out_dim = MAPPED[name]
    values = [a[0] if d is None else a for a, d in zip(motion(robot), in_dims)]
    given = [a if d is None else a.movedim(0, d) for a, d in zip(values, in_dims)]
    expected = robot.inverse_dynamics(*values).movedim(0, out_dim)
    return vmap(robot.inverse_dynamics, in_dims, out_dim), given, expected


@pytest.mark.parametrize("name", MAPPED)
def test_a_mapped_call_is_one_batched_call(robot: Any, name: str) -> None:
    mapped, given, expected = mapped_case(robot, name)
    with Calls() as calls:
        same(mapped(*given), expected)
    assert len(calls.names) == 1


@pytest.mark.parametrize("name", MAPPED)
def test_a_compiled_map_is_one_graph(robot: Any, name: str) -> None:
    mapped, given, expected = mapped_case(robot, name)
    same(whole(mapped)(*given), expected)


@pytest.mark.parametrize("randomness", ["error", "same", "different"])
def test_options_of_vmap(robot: Any, randomness: str) -> None:
    arguments = motion(robot)
    expected = robot.inverse_dynamics(*arguments)
    same(vmap(robot.inverse_dynamics, randomness=randomness)(*arguments), expected)
    same(vmap(robot.inverse_dynamics, randomness=randomness, chunk_size=2)(*arguments), expected)


def test_batch_axes_beside_the_mapped_one(robot: Any) -> None:
    q, qd, qdd = motion(robot)
    many = qd.expand(4, BATCH, -1) + torch.arange(4.0, dtype=DOUBLE)[:, None, None]
    expected = torch.stack([robot.inverse_dynamics(q, v, qdd) for v in many])
    same(vmap(robot.inverse_dynamics, (None, 0, None))(q, many, qdd), expected)
    same(vmap(vmap(robot.inverse_dynamics, (0, 0, 0)), (None, 0, None))(q, many, qdd), expected)
    same(vmap(vmap(robot.inverse_dynamics, (None, 0, None)), (0, 1, 0), 1)(q, many, qdd), expected)
    inner = vmap(lambda a, v, c: vmap(lambda b: robot.inverse_dynamics(b, v, c))(a), (None, 0, 0))
    same(inner(q, qd, qdd)[1], robot.inverse_dynamics(q, qd[1], qdd[1]))


def test_results_of_several_arrays_and_other_dtypes(robot: Any) -> None:
    q, qd, _ = motion(robot)
    found, expected = vmap(robot.com)(q), robot.com(q)
    assert type(found) is type(expected)
    same(tuple(found), tuple(expected))
    mixed = vmap(robot.inverse_dynamics)(q, qd.float())
    assert mixed.dtype == DOUBLE
    same(mixed, robot.inverse_dynamics(q, qd.float()))


def test_methods_that_call_others(robot: Any) -> None:
    q, qd, u = motion(robot)
    controls = torch.stack([u, -u], 1)
    expected = robot.rollout(q, qd, controls, 0.01)
    same(vmap(lambda *values: robot.rollout(*values, 0.01))(q, qd, controls), expected)
    same(whole(vmap(lambda *values: robot.rollout(*values, 0.01)))(q, qd, controls), expected)
    named = robot.end_effector_pose_runtime(q, ["ball", "hinge"])
    same(vmap(lambda q: robot.end_effector_pose_runtime(q, ["ball", "hinge"]))(q), named)
    with pytest.raises(NoDerivativeError, match="'ee_offsets' is read before the call"):
        vmap(lambda q, point: robot.end_effector_pose_runtime(q, ["ball"], point))(q, torch.zeros(BATCH, 3))
