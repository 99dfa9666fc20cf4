"""What holds for a process as a whole: several devices, and other frameworks beside JAX."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.grid_backends.robots import URDF

pytest.importorskip("jax", reason="JAX is not installed")

ROOTS = [str(Path(__file__).parents[3] / folder) for folder in (".", "store", "backends", "consumers")]

DEVICES = """
import os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax, numpy as np, grid_rbd
from jax.sharding import Mesh, NamedSharding, PartitionSpec
robot = grid_rbd.load_robot(urdf_string=URDF, backend="jax", lazy=True)
rows = NamedSharding(Mesh(np.array(jax.devices()), ("batch",)), PartitionSpec("batch"))
q, qd = (jax.device_put(x, rows) for x in (robot.random(seed=0, n=8), np.ones((8, robot.nv), np.float32)))
acceleration = np.linspace(0.0, 1.0, robot.nv, dtype=np.float32)
loss = lambda q, qd: (robot.inverse_dynamics(q, qd, acceleration) ** 2).sum()
for function in (lambda q, qd: robot.inverse_dynamics(q, qd, acceleration), jax.grad(loss)):
    compiled = jax.jit(function).lower(q, qd).compile()
    result, text = compiled(q, qd), compiled.as_text()
    assert result.sharding.spec == PartitionSpec("batch"), result.sharding
    assert "custom-call" in text and "all-gather" not in text and "all-to-all" not in text, text
    np.testing.assert_allclose(result, function(np.asarray(q), np.asarray(qd)), rtol=1e-5, atol=1e-5)
"""

MAPPED_BY_HAND = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax, numpy as np, grid_rbd
from jax.sharding import Mesh, PartitionSpec
jax.config.update("jax_enable_x64", True)
robot = grid_rbd.load_robot(urdf_string=URDF, backend="jax", dtype="float64", lazy=True)
mesh, rows, shared = Mesh(np.array(jax.devices()), ("batch",)), PartitionSpec("batch"), PartitionSpec()
q, rng = robot.random(seed=0, n=4), np.random.default_rng(0)
each, one = rng.standard_normal((4, robot.nv)), rng.standard_normal(robot.nv)

def halves(function, specs, result=rows):
    return jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=result)

def effort(qd, q):
    return (robot.inverse_dynamics(q, qd) ** 2).sum()

def states(q, qd):
    return robot.rollout(q, qd, np.ones((*q.shape[:-1], 3, robot.nv)), 0.01)

def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)

slopes = jax.vmap(jax.grad(effort))
same(halves(lambda q, qd: slopes(qd, q), (rows, rows))(q, each), slopes(each, q))
expected = jax.grad(effort)(one, q)
same(jax.grad(lambda qd: (halves(robot.inverse_dynamics, (rows, shared))(q, qd) ** 2).sum())(one), expected)
inside = halves(lambda q, qd: jax.grad(lambda qd: jax.lax.psum(effort(qd, q), "batch"))(qd), (rows, shared), shared)
same(inside(q, one), expected)
same(halves(states, (rows, rows))(q, each), states(q, each))
slope = jax.grad(lambda qd: halves(states, (rows, rows))(q, qd).sum())(each)
same(slope, jax.grad(lambda qd: states(q, qd).sum())(each))
"""

BESIDE = """
import {first}, {second}, grid_rbd
robots = [grid_rbd.load_robot(urdf_string=URDF, backend=name, lazy=True) for name in ("{first}", "{second}")]
tables = [robot.crba(robot.random(seed=0, n=2)) for robot in robots]
assert abs(tables[0].__array__() - tables[1].__array__()).max() == 0.0
"""


def run(script: str) -> None:
    code = f"import sys; sys.path[:0] = {ROOTS!r}\nURDF = {URDF!r}\n{script}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]


def test_devices_compute_their_own_samples() -> None:
    run(DEVICES)


def test_shard_map_and_its_gradients() -> None:
    run(MAPPED_BY_HAND)


@pytest.mark.parametrize(("first", "second"), [("jax", "torch"), ("torch", "jax")])
def test_beside_another_framework_in_either_order(first: str, second: str) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    run(BESIDE.format(first=first, second=second))


def test_alone_or_not_at_all() -> None:
    """A front-end does not import the other one, and `grid_rbd` imports neither."""
    run("import grid_rbd\nassert not {'jax', 'torch'} & set(sys.modules)")
    run("import grid_rbd.jax\nassert 'torch' not in sys.modules")
