"""Robots that are registered once and used by several front-ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import grid_rbd
from grid_store import Store
from tests.grid_backends.robots import URDF

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

PRODUCT = "crba_slopes_along_q"


def test_a_robot_is_built_once_for_all_front_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = grid_rbd.register_robot("arm", urdf_string=URDF, algorithm_list="crba", cache_dir=tmp_path)
    monkeypatch.setenv("CXX", "no-such-compiler")
    robot = grid_rbd.get_robot("arm", tmp_path, backend="torch")
    q = robot.random(seed=0, n=3)
    np.testing.assert_array_equal(robot.crba(q), plain.crba(q.numpy()))
    with pytest.raises(grid_rbd.AlgorithmNotBuiltError, match=r"'aba' .*is not built in this entry; add 'aba'"):
        robot.aba(q, q[:, :4], q[:, :4])


def test_derivatives_are_kept_with_the_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was built for a gradient is there in another process, without a compiler, and safe from collection."""
    from grid_rbd.torch import get_robot, register_robot

    robot = register_robot("arm", urdf_string=URDF, algorithm_list="crba", cache_dir=tmp_path)
    q = robot.random(seed=0, n=3).requires_grad_()
    robot.crba(q).square().sum().backward()
    assert PRODUCT in Store(tmp_path).resolve("arm")["units"]
    grid_rbd.gc_cache(tmp_path, execute=True)
    monkeypatch.setattr("grid_rbd.on_demand.build", None)  # nothing may be built any more
    again = get_robot("arm", tmp_path)
    first, q.grad = q.grad, None
    again.crba(q).square().sum().backward()
    np.testing.assert_array_equal(q.grad, first)
    assert "crba" in again.capabilities()
    assert PRODUCT not in again.capabilities()


def test_keyword_arguments_of_the_modules(tmp_path: Path) -> None:
    from grid_rbd.torch import load_robot

    with pytest.raises(TypeError, match="backend"):
        load_robot(urdf_string=URDF, backend="numpy", cache_dir=tmp_path)
    with pytest.raises(grid_rbd.KeywordError, match="'algorithms'"):
        load_robot(urdf_string=URDF, algorithms="crba", cache_dir=tmp_path)
    with pytest.raises(grid_rbd.OptionError, match="device='reference' has none"):
        load_robot(urdf_string=URDF, device="reference", cache_dir=tmp_path)
