"""Robot entries: what is loaded is what was built, or an error that says why not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grid_core.build import RobotEntry, RobotRequest, build, load_entry, make_plan
from grid_core.build.entry import make_record
from grid_core.build.models import DESCRIPTION, stored_model
from grid_core.build.options import make_options
from grid_core.build.record import usable_record
from grid_core.build.targets import CpuTarget
from grid_core.errors import RobotNotRegisteredError, StaleRobotError
from grid_core.toolchains import levels
from grid_store import CorruptEntryError, Store
from tests.grid_core.units import PENDULUM

Make = Callable[..., RobotRequest]


@pytest.fixture
def bound(request_for: Make, store: Store) -> dict[str, Any]:
    """The record of the robot 'pendulum' with two units."""
    request = request_for(
        "minv", make_options(use_joint_dynamics=True, friction_model="tanh", friction_width=[0.1, 0.2])
    )
    plan = make_plan(request, store)
    record = make_record(request, stored_model(request, store), build(plan, store), plan, {"note": 1})
    store.bind("pendulum", record)
    return record


def test_a_loaded_robot_is_the_built_one(bound: dict[str, Any], store: Store) -> None:
    entry = load_entry("pendulum", store)
    assert isinstance(entry, RobotEntry)
    assert (entry.name, entry.model.nv, entry.options.dtype) == ("pendulum", 2, "float32")
    assert entry.options.settings.friction_width == (0.1, 0.2)
    assert list(entry.units) == ["crba", "minv"]
    assert len(entry.units) == 2
    assert entry.units["crba"].name == CpuTarget.unit
    assert entry.units.get("aba") is None
    assert entry.record == bound
    kept = store.get(bound["model"])
    assert kept is not None
    assert kept.path(DESCRIPTION).read_bytes() == PENDULUM.read_bytes()


def test_a_loaded_robot_is_leased(bound: dict[str, Any], store: Store) -> None:
    units = load_entry("pendulum", store).units
    path = units["crba"]
    store.unbind("pendulum")
    store.gc(execute=True)
    assert path.exists()


def test_an_unknown_name(bound: dict[str, Any], store: Store) -> None:
    with pytest.raises(
        RobotNotRegisteredError, match=r"no robot 'pendulun' .*did you mean 'pendulum'.*; register_robot and"
    ):
        load_entry("pendulun", store)
    with pytest.raises(KeyError) as caught:
        load_entry("other", store)
    assert getattr(caught.value, "name") == "other"  # noqa: B009
    assert not str(caught.value).startswith('"'), "a message, not a repr"


def remove(store: Store, key: str) -> None:
    shutil.rmtree(store.root / "v1" / "objects" / key[:2] / key)


def reasons(store: Store) -> list[str]:
    with pytest.raises(StaleRobotError, match=r"robot 'pendulum' cannot be loaded: .*; register it again") as caught:
        load_entry("pendulum", store)
    return caught.value.reasons


def test_lost_units_and_models(bound: dict[str, Any], store: Store) -> None:
    remove(store, bound["units"]["minv"])
    assert reasons(store) == ["the unit of 'minv' is no longer in the store"]
    remove(store, bound["model"])
    assert reasons(store) == ["the unit of 'minv' is no longer in the store", "its model is no longer in the store"]


@pytest.mark.parametrize("schema", [0, None, "1"])
def test_records_of_another_schema(schema: Any, bound: dict[str, Any], store: Store) -> None:
    store.bind("pendulum", {"schema": schema})
    assert reasons(store) == [f"its record has schema {schema!r}, this version reads 1"]


def test_records_that_are_broken(bound: dict[str, Any], store: Store) -> None:
    (path,) = (store.root / "v1" / "names").iterdir()
    path.write_text("{")
    assert reasons(store) == ["its record is broken: the file holds no JSON object (the log names it)"]
    assert usable_record("pendulum", store) is None
    store.bind("pendulum", {"schema": 1, **{name: bound[name] for name in ("request", "compiler", "level", "units")}})
    assert reasons(store) == ["its record is broken: it lacks options, plugin_files, model, inputs, facts"]
    store.bind("pendulum", {**bound, "facts": [], "model": 3})
    assert reasons(store) == ["its record is broken: model is 3", "its record is broken: facts is []"]
    store.bind("pendulum", {**bound, "options": {}})
    assert reasons(store) == ["its model or its options are of another version ('settings')"]
    store.bind("pendulum", bound)
    assert usable_record("pendulum", store) == bound


def test_levels_that_this_machine_lacks(bound: dict[str, Any], store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "armv8" if levels.detect_level() != "armv8" else "x86-64-v4"
    store.bind("pendulum", {**bound, "level": other})
    assert reasons(store) == [f"it was built for {other}, which this machine does not run"]


def test_a_unit_that_goes_while_it_is_in_use(bound: dict[str, Any], store: Store) -> None:
    units = load_entry("pendulum", store).units
    remove(store, bound["units"]["minv"])
    with pytest.raises(StaleRobotError, match="the unit of 'minv' is no longer in the store; register"):
        units.get("minv")
    assert isinstance(units["crba"], Path)


def _flip(content: bytes) -> bytes:
    damaged = bytearray(content)
    damaged[len(damaged) // 2] ^= 1
    return bytes(damaged)


def test_a_truncated_unit_is_refused_before_anything_opens_it(
    bound: dict[str, Any], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda *_: pytest.fail("it was opened"))
    entry = store.get(bound["units"]["crba"])
    assert entry is not None
    units, path = load_entry("pendulum", store).units, entry.path(CpuTarget.unit)
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[:-100])
    with pytest.raises(CorruptEntryError, match=r"the unit of 'crba': .*unit\.so"):
        units["crba"]
    assert reasons(store) == ["the unit of 'crba' is no longer in the store"], "its size shows when it is looked up"


def test_a_corrupted_unit_is_never_opened(bound: dict[str, Any], store: Store) -> None:
    entry = store.get(bound["units"]["crba"])
    assert entry is not None
    path = entry.path(CpuTarget.unit)
    damaged = _flip(path.read_bytes())
    path.unlink()  # this process may have the old file mapped
    path.write_bytes(damaged)
    units = load_entry("pendulum", store).units
    with pytest.raises(
        CorruptEntryError, match=r"the unit of 'crba': .*unit\.so is not the file .*register_robot does"
    ):
        units["crba"]
    assert isinstance(units["minv"], Path)
