"""Handles: compiled, lazy, stored and reference ones give the same numbers, each with as little work as possible."""

from __future__ import annotations

import contextlib
import re
import shutil
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import grid_rbd
from grid_core.toolchains import search
from grid_rbd import AlgorithmNotBuiltError, GridError, RobotHandle, RobotNotRegisteredError, StaleRobotError
from grid_store import CorruptEntryError, Store, StoreDegradedWarning
from tests.grid_core.build.conftest import Stub
from tests.grid_core.units import GOLDEN, PENDULUM

FEW = "crba,generalized_gravity"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the robot 'pendulum', compiled in float64."""
    root = tmp_path_factory.mktemp("shelf")
    grid_rbd.register_robot("pendulum", PENDULUM, cache_dir=root, dtype="float64", algorithm_list=FEW)
    return root


def arguments(robot: RobotHandle, name: str, batch: int) -> dict[str, Any]:
    random = np.random.default_rng(11)
    inputs = robot._record.signatures[name].inputs
    made = {i.name: random.normal(size=(batch, *i.shape)) for i in inputs}
    return made | {"q": robot.model.random(4, batch)}


def test_a_stored_robot_needs_no_compiler(shelf: Path, no_compiler: None) -> None:
    robot = grid_rbd.get_robot("pendulum", shelf)
    q = robot.random(0, 5)
    assert robot.crba(q).shape == (5, 2, 2)
    again = grid_rbd.register_robot("pendulum", PENDULUM, cache_dir=shelf, dtype="float64", algorithm_list=FEW)
    np.testing.assert_array_equal(again.crba(q), robot.crba(q))
    with pytest.raises(AlgorithmNotBuiltError, match=r"'minv' .* is not built .* add 'minv' to algorithm_list"):
        robot.minv(q)


@pytest.mark.parametrize("floating", [False, True])
def test_the_reference_device_equals_compiled_code(floating: bool, compiled: Any) -> None:
    base = {"floating_base": floating, "dtype": "float64"}
    robot = compiled(PENDULUM, **base)
    reference = grid_rbd.load_robot(PENDULUM, device="reference", **base)
    assert (robot.device, reference.device) == ("cpu", "reference")
    names = ("inverse_dynamics", "forward_dynamics", "inverse_dynamics_gradient")
    for name in names:
        given = arguments(robot, name, 9)
        expected = getattr(reference, name)(**given)
        np.testing.assert_allclose(
            getattr(robot, name)(**given), expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max(), err_msg=name
        )
    given = arguments(robot, "inverse_dynamics", 3)
    for left_out in ("qdd", "f_ext", "gravity"):
        del given[left_out]
        np.testing.assert_allclose(
            robot.inverse_dynamics(**given), reference.inverse_dynamics(**given), rtol=1e-10, atol=1e-12
        )


def test_the_reference_device_needs_no_compiler(root: Path, no_compiler: None) -> None:
    robot = grid_rbd.register_robot("arm", PENDULUM, cache_dir=root, device="reference", algorithm_list="crba")
    assert robot.crba(robot.neutral()).dtype == np.float32
    with pytest.raises(AlgorithmNotBuiltError):
        robot.minv(robot.neutral())


def test_lazy_methods_compile_their_own_unit_once(stub: Stub, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stub's units cannot be called, so the opening of a unit stands for its call."""
    opened: list[str] = []

    def open_unit(path: Path, signature: Any) -> Any:
        assert path.exists()
        opened.append(signature.name)
        return Mock(return_value=signature.name)

    monkeypatch.setattr("grid_backends.numpy.functions.open_unit", open_unit)
    monkeypatch.setenv("STUB_MODE", "slow")
    robot = grid_rbd.register_robot("arm", PENDULUM, cache_dir=root, compiler=stub.command, lazy=True)
    assert stub.compiled() == []
    q = np.zeros(2)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: robot.minv(q), range(8)))
    assert answers == ["minv"] * 8
    assert stub.compiled() == ["minv"], "and nothing that it requires: units are whole"
    robot.minv(q)
    robot.crba(q)
    assert stub.compiled() == ["crba"]
    grid_rbd.gc_cache(root, execute=True)
    monkeypatch.setattr(search, "_working", {})
    monkeypatch.setenv("PATH", "")
    stored = grid_rbd.get_robot("arm", root)
    assert stored.minv(q) == "minv", "a unit that was built needs no compiler"
    with pytest.raises(grid_rbd.ToolchainError, match="no working"):
        stored.aba(q, q, q)
    assert stub.compiled() == []


def test_get_robot_registers_only_what_is_missing(stub: Stub, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base: dict[str, Any] = {"compiler": stub.command, "algorithm_list": "crba"}
    with pytest.raises(RobotNotRegisteredError, match=r"no robot 'arm' is registered in .*; register_robot and"):
        grid_rbd.get_robot("arm", root)
    with pytest.raises(TypeError, match=r"build options \['floating_base'\] without urdf_path"):
        grid_rbd.get_robot("arm", root, floating_base=True)
    made = grid_rbd.get_robot("arm", root, urdf_path=PENDULUM, floating_base=True, **base)
    assert made.floating_base
    assert stub.compiled() == ["crba"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grid_rbd.get_robot("arm", root, urdf_path=PENDULUM, floating_base=True, **base)
    with pytest.warns(UserWarning, match="robot 'arm' is registered already, from another description, opt") as caught:
        stored = grid_rbd.get_robot("arm", root, urdf_path=GOLDEN / "iiwa14.urdf", **base)
    assert stored.nv == made.nv, "the stored one is returned"
    assert caught[0].filename == __file__, "the user's call is what the warning points at"
    assert stub.compiled() == []
    robot = grid_rbd.get_robot("arm", root, threads=3, output_convention="pinocchio", _profile_overlay=None)
    assert robot.threads == 3
    with pytest.raises(grid_rbd.OptionError, match="backend is 'tf'"):
        grid_rbd.get_robot("arm", root, backend="tf")
    monkeypatch.setattr("grid_rbd.backends.find_spec", lambda name: None)
    with pytest.raises(grid_rbd.FrameworkMissingError, match="the package 'jax' is not installed"):
        grid_rbd.get_robot("arm", root, backend="jax")


def test_stale_robots_are_built_again_by_register(stub: Stub, root: Path) -> None:
    base: dict[str, Any] = {"cache_dir": root, "compiler": stub.command, "algorithm_list": "crba"}
    grid_rbd.register_robot("arm", PENDULUM, **base)
    store = Store(root)
    record = store.resolve("arm")
    assert record is not None
    shutil.rmtree(next(root.glob(f"v1/objects/*/{record['units']['crba']}")))
    with pytest.raises(StaleRobotError, match="the unit of 'crba' is no longer in the store; register it again"):
        grid_rbd.get_robot("arm", root)
    stub.compiled()
    grid_rbd.register_robot("arm", PENDULUM, **base)
    assert stub.compiled() == ["crba"]
    store.bind("arm", {"schema": 0})
    with pytest.raises(StaleRobotError, match="its record has schema 0"):
        grid_rbd.get_robot("arm", root)
    assert grid_rbd.build_plan("arm", PENDULUM, **base)["cached"]
    assert grid_rbd.register_robot("arm", PENDULUM, **base).nv == 2
    assert stub.compiled() == [], "only the record was stale"


def damage(root: Path, key: str, name: str) -> None:
    """Change a byte in the middle of a stored file."""
    (path,) = root.glob(f"v1/objects/*/{key}/{name}")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.unlink()  # this process may have the old file mapped
    path.write_bytes(data)


def test_a_corrupted_unit_is_reported_and_not_opened(shelf: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(shelf, root)
    record = Store(root).resolve("pendulum")
    assert record is not None
    damage(root, record["units"]["crba"], "unit.so")
    robot = grid_rbd.get_robot("pendulum", root)
    with pytest.raises(CorruptEntryError):
        robot.crba(robot.neutral())
    assert robot.generalized_gravity(robot.neutral()).shape == (2,)


@pytest.mark.parametrize("lazy", [False, True])
def test_registering_builds_damaged_units_again(
    lazy: bool, stub: Stub, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    base: dict[str, Any] = {"cache_dir": root, "compiler": stub.command, "algorithm_list": "crba,generalized_gravity"}
    grid_rbd.register_robot("arm", PENDULUM, **base)
    stub.compiled()
    record = Store(root).resolve("arm")
    assert record is not None
    damage(root, record["units"]["crba"], "unit.so")
    robot = grid_rbd.load_robot(PENDULUM, name="arm", lazy=lazy, **base)
    if lazy:
        assert stub.compiled() == [], "a lazy robot builds when it is called"
        with contextlib.suppress(GridError):  # the stub's units cannot be called
            robot.crba(robot.neutral())
    assert stub.compiled() == ["crba"], "and no other"
    grid_rbd.get_robot("arm", root)
    (warning,) = (r.getMessage() for r in caplog.records if r.levelname == "WARNING")
    assert re.fullmatch(
        r"entry .* is damaged and counts as missing: .*unit\.so is not the file that was stored", warning
    )


@pytest.mark.parametrize("harm", ["damaged", "gone"])
def test_a_lazy_handle_builds_a_unit_again_that_was_lost_since(harm: str, shelf: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(shelf, root)
    options: dict[str, Any] = {"cache_dir": root, "dtype": "float64", "algorithm_list": FEW}
    robot = grid_rbd.register_robot("pendulum", PENDULUM, lazy=True, **options)
    record = Store(root).resolve("pendulum")
    assert record is not None
    if harm == "damaged":
        damage(root, record["units"]["crba"], "unit.so")
    else:
        shutil.rmtree(next(root.glob(f"v1/objects/*/{record['units']['crba']}")))
    with grid_rbd.register_robot("reference", PENDULUM, device="reference", **options) as reference:
        np.testing.assert_allclose(robot.crba([0.1, 0.2]), reference.crba([0.1, 0.2]))


def test_a_lazy_handle_without_a_compiler_says_what_is_damaged(
    stub: Stub, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base: dict[str, Any] = {"cache_dir": root, "compiler": stub.command, "algorithm_list": "crba"}
    grid_rbd.register_robot("arm", PENDULUM, **base)
    grid_rbd.register_robot("arm", PENDULUM, lazy=True, **base)
    record = Store(root).resolve("arm")
    assert record is not None
    damage(root, record["units"]["crba"], "unit.so")
    monkeypatch.setattr(search, "_working", {})
    monkeypatch.setenv("PATH", "")
    robot = grid_rbd.get_robot("arm", root)
    with pytest.raises(CorruptEntryError, match=r"the unit of 'crba': .* is not the file that was stored") as caught:
        robot.crba(robot.neutral())
    assert isinstance(caught.value.__cause__, grid_rbd.ToolchainError)


def test_a_damaged_model_is_told_and_built_again(stub: Stub, root: Path) -> None:
    base: dict[str, Any] = {"cache_dir": root, "compiler": stub.command, "algorithm_list": "crba"}
    grid_rbd.register_robot("arm", PENDULUM, **base)
    record = Store(root).resolve("arm")
    assert record is not None
    damage(root, record["model"], "model.json")
    with pytest.raises(StaleRobotError, match=r"its model is damaged: .*model\.json is not the file that was stored"):
        grid_rbd.get_robot("arm", root)
    assert grid_rbd.register_robot("arm", PENDULUM, **base).nv == 2
    assert grid_rbd.get_robot("arm", root).nv == 2


def test_an_unusable_cache_degrades_with_a_warning(stub: Stub, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    with pytest.warns(StoreDegradedWarning):
        robot = grid_rbd.register_robot(
            "arm", PENDULUM, cache_dir=blocked / "store", compiler=stub.command, algorithm_list="crba"
        )
    assert robot.nv == 2
    assert stub.compiled() == ["crba"]


def test_closed_handles(shelf: Path) -> None:
    with grid_rbd.get_robot("pendulum", shelf) as robot:
        robot.crba(robot.neutral())
    with pytest.raises(GridError, match="this handle is closed; get a new one with get_robot"):
        robot.crba(robot.neutral())


def test_a_plugin_file_becomes_a_method(tmp_path: Path, root: Path, stub: Stub) -> None:
    plugin = tmp_path / "weigh.py"
    plugin.write_text(
        "from grid_core.plugins import Algorithm, Output, hookimpl\n"
        "def emit(k):\n    k.output('m', [sum((i.mass for i in k.tree.inertias), 0.0)])\n"
        "@hookimpl\ndef grid_algorithms():\n"
        "    return [Algorithm('weigh', 'toys', 'Total mass.', (), (Output('m', ('1',), 'kg'),), emit)]\n"
    )
    robot = grid_rbd.register_robot(
        "arm", PENDULUM, cache_dir=root, algorithm_list="weigh", plugins=[plugin], device="reference"
    )
    mass = sum(b.mass for b in robot.model.bodies)
    np.testing.assert_allclose(robot.weigh(), [mass], rtol=1e-6)
    assert "weigh" in robot.capabilities()
    grid_rbd.register_robot(
        "arm", PENDULUM, cache_dir=root, algorithm_list="weigh", plugins=[plugin], compiler=stub.command
    )
    assert stub.compiled() == ["weigh"]
    assert "weigh" in grid_rbd.get_robot("arm", root).capabilities(), "the record remembers the plugin file"


def test_a_reference_robot_is_registered_under_its_name(root: Path) -> None:
    made = grid_rbd.register_robot("arm", PENDULUM, device="reference", dtype="float64", cache_dir=root)
    assert grid_rbd.list_registered(root) == ["arm"]
    found = grid_rbd.get_robot("arm", root)
    assert found.device == "reference"
    q = made.random(0, 3)
    np.testing.assert_array_equal(found.crba(q), made.crba(q))


def test_more_algorithms_join_those_that_a_name_has(root: Path) -> None:
    grid_rbd.register_robot("arm", PENDULUM, algorithm_list="crba", cache_dir=root)
    more = grid_rbd.register_robot("arm", PENDULUM, algorithm_list="generalized_gravity", cache_dir=root)
    found = grid_rbd.get_robot("arm", root)
    for robot in (more, found):
        built = {name for name, facts in robot.capabilities().items() if facts["built"]}
        assert built == {"crba", "generalized_gravity"}
    assert grid_rbd.build_plan("arm", PENDULUM, algorithm_list="crba", cache_dir=root)["would"] == "load"


def test_another_robot_under_a_name_keeps_nothing(root: Path) -> None:
    grid_rbd.register_robot("arm", PENDULUM, algorithm_list="crba", cache_dir=root)
    other = grid_rbd.register_robot(
        "arm", PENDULUM, algorithm_list="generalized_gravity", dtype="float64", cache_dir=root
    )
    assert [name for name, facts in other.capabilities().items() if facts["built"]] == ["generalized_gravity"]
