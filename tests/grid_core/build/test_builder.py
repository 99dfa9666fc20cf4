"""Builds: what is missing is compiled and nothing else, failures leave a log and nothing in the store."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from grid_core.build import Event, RobotRequest, build, make_plan
from grid_core.build.compilers import FILE
from grid_core.build.models import stored_model
from grid_core.build.options import make_options
from grid_core.build.targets import CpuTarget
from grid_core.errors import CompileError, OptionError, ToolchainError, URDFParseError
from grid_core.toolchains import search
from grid_store import Store, StoreWriteError
from tests.grid_core.build.conftest import Stub
from tests.grid_core.units import PENDULUM

Make = Callable[..., RobotRequest]
ROOT = Path(__file__).parents[3]


def status(request: RobotRequest, store: Store) -> dict[str, str]:
    return {unit.algorithm: unit.status for unit in make_plan(request, store).units}


def test_a_plan_builds_nothing(request_for: Make, store: Store, stub: Stub) -> None:
    plan = make_plan(request_for("minv"), store)
    assert status(request_for("minv"), store) == {"crba": "miss", "minv": "miss"}
    assert {u.reason for u in plan.units} == {"it has not been built before"}
    assert plan.content_key is None
    assert [u.algorithm for u in plan.missing] == ["crba", "minv"]
    assert stub.compiled() == []


def test_what_is_built_is_found(request_for: Make, store: Store, stub: Stub) -> None:
    events: list[Event] = []
    entries = build(make_plan(request_for("minv"), store), store, progress=events.append)
    assert stub.compiled() == ["crba", "minv"]
    assert sorted((e.phase, e.algorithm, e.total) for e in events) == [
        ("done", "crba", 2), ("done", "minv", 2), ("start", "crba", 2), ("start", "minv", 2),
    ]  # fmt: skip
    assert {e.number for e in events} == {1, 2}
    assert all(e.compiled for e in events if e.phase == "done")
    for algorithm, entry in entries.items():
        assert f"// {algorithm} of 2dof_planar" in entry.path(CpuTarget.source).read_text().splitlines()[0]
        assert entry.verified(CpuTarget.unit).stat().st_size > 0
        assert entry.meta["algorithm"] == algorithm
    plan = make_plan(request_for("minv"), store)
    assert not plan.missing
    assert plan.content_key
    assert {u.reason for u in plan.units} == {""}
    events.clear()
    again = build(plan, store, progress=events.append)
    assert {a: e.key for a, e in again.items()} == {a: e.key for a, e in entries.items()}
    assert (stub.compiled(), events) == ([], [])


def test_one_more_algorithm_compiles_its_missing_units(request_for: Make, store: Store, stub: Stub) -> None:
    build(make_plan(request_for("crba"), store), store)
    assert stub.compiled() == ["crba"]
    build(make_plan(request_for("crba,generalized_gravity"), store), store)
    assert stub.compiled() == ["generalized_gravity"]
    build(make_plan(request_for("forward_dynamics"), store), store)
    assert stub.compiled() == ["forward_dynamics", "inverse_dynamics"], "crba is there already"


def test_equal_content_is_compiled_once(request_for: Make, store: Store, stub: Stub) -> None:
    build(make_plan(request_for("crba"), store), store)
    commented = request_for("crba", source=PENDULUM.read_bytes().replace(b"</robot>", b"<!-- said --></robot>"))
    friction = request_for("crba", make_options(use_joint_dynamics=True))
    for request in (commented, friction):
        assert status(request, store) == {"crba": "miss"}
        events: list[Event] = []
        build(make_plan(request, store), store, progress=events.append)
        assert [e.compiled for e in events if e.phase == "done"] == [False]
        assert status(request, store) == {"crba": "hit"}
    assert stub.compiled() == ["crba"]


def test_force_compiles_again(request_for: Make, store: Store, stub: Stub) -> None:
    build(make_plan(request_for("crba"), store), store)
    build(make_plan(request_for("crba"), store), store, force=True)
    assert stub.compiled() == ["crba", "crba"]


def test_misses_are_explained(request_for: Make, store: Store) -> None:
    before = make_plan(request_for("crba"), store)
    inputs = {u.algorithm: dict(u.input_key.components) for u in before.units}
    double = make_plan(request_for("crba", make_options(dtype="float64"), level="x86-64-v2"), store, inputs)
    assert [u.reason for u in double.units] == ["level, options changed"]
    assert [u.reason for u in make_plan(request_for("crba"), store, inputs).units] == [
        "its record is no longer in the store"
    ]
    entries = build(before, store)
    unit = entries["crba"].path(CpuTarget.unit)
    unit.chmod(0o644)
    unit.unlink()
    assert [u.reason for u in make_plan(request_for("crba"), store).units] == [
        "its files are damaged or no longer in the store"
    ]


def test_another_compiler_is_noticed(
    request_for: Make, store: Store, stub: Stub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build(make_plan(request_for("crba"), store), store)
    newer = tmp_path / "newer-cxx"
    newer.write_text(
        Path(stub.command)
        .read_text()
        .replace("#!/bin/sh\n", '#!/bin/sh\n[ "$1" != --version ] || { echo g++ 99.1; exit; }\n')
    )
    newer.chmod(0o755)
    assert status(request_for("crba", compiler=str(newer)), store) == {"crba": "miss"}
    stub.compiled()
    build(make_plan(request_for("crba", compiler=str(newer)), store), store)
    assert stub.compiled() == ["crba"]


def test_a_compiler_is_probed_once_for_all_processes(
    request_for: Make, store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stub: Stub
) -> None:
    make_plan(request_for("crba"), store)
    monkeypatch.setattr(search, "_working", {})
    monkeypatch.setattr(search, "probe", lambda *_: pytest.fail("probed again"))
    make_plan(request_for("crba"), store)


def test_no_compiler(request_for: Make, store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match=r"(?s)no working C\+\+17 compiler; tried.*set CXX.*needs no compiler"):
        make_plan(request_for("crba", compiler=None), store)


FAILURES = {
    "fail": (r"failed with exit status 1 on unit.cpp; log: (\S+)\n    unit.cpp:3: error: no such luck\n", True),
    "killed": (r"was killed \(SIGKILL\) on unit.cpp; log: (\S+)\n", True),
    "empty": (r"ended well but wrote nothing on unit.cpp; log: (\S+)\n", True),
    "garbage": (r"the compiler succeeded but (\S+) cannot be loaded: .*set CXX to another", False),
    "foreign": (r"the compiler succeeded but (\S+) cannot be loaded: .*grid_unit_table", False),
}


@pytest.mark.parametrize("mode", sorted(FAILURES))
def test_failures_leave_their_files_and_nothing_in_the_store(
    mode: str, request_for: Make, store: Store, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern, logged = FAILURES[mode]
    monkeypatch.setenv("STUB_MODE", mode)
    plan = make_plan(request_for("crba"), store)
    with pytest.raises(CompileError) as caught:
        build(plan, store)
    found = re.search(pattern, str(caught.value), re.DOTALL)
    assert found, str(caught.value)
    kept = Path(found.group(1))
    assert kept.exists()
    assert (kept.parent / CpuTarget.source).read_text().startswith("// crba of")
    if logged:
        assert kept.read_text().splitlines()[0].startswith(stub.command)
    assert [e for e in store.entries() if e.meta["kind"] == "unit"] == []
    assert status(request_for("crba"), store) == {"crba": "miss"}
    monkeypatch.setenv("STUB_MODE", "")
    build(make_plan(request_for("crba"), store), store)
    assert status(request_for("crba"), store) == {"crba": "hit"}


def test_what_was_finished_before_a_failure_stays(
    request_for: Make, store: Store, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRID_RBD_BUILD_JOBS", "1")

    def fail_second(event: Event) -> None:
        if event.phase == "done":
            monkeypatch.setenv("STUB_MODE", "fail")

    with pytest.raises(CompileError):
        build(make_plan(request_for("minv"), store), store, progress=fail_second)
    assert status(request_for("minv"), store) == {"crba": "miss", "minv": "hit"}


def test_bad_descriptions_and_widths_compile_nothing(request_for: Make, store: Store, stub: Stub) -> None:
    with pytest.raises(URDFParseError):
        build(make_plan(request_for(source=b"<robot>"), store), store)
    tanh = make_options(use_joint_dynamics=True, friction_model="tanh", friction_width=[0.1, 0.2, 0.3])
    with pytest.raises(OptionError, match=r"friction_width has 3 values; .* \(nv = 2\)"):
        build(make_plan(request_for(options=tanh), store), store)
    assert stub.compiled() == []


CHILD = """
import sys, time
from pathlib import Path
from grid_core.build import BuildOptions, build, make_plan, make_request
from grid_store import Store
request = make_request(Path(sys.argv[1]), BuildOptions(), algorithm_list="minv", compiler=sys.argv[2])
store = Store(sys.argv[3], strict=True)
folder = Path(sys.argv[4])
(folder / f"ready{sys.argv[5]}").touch()
while not (folder / "go").exists():
    time.sleep(0.005)
entries = build(make_plan(request, store), store)
print(sorted(e.key for e in entries.values()))
"""


@pytest.mark.parametrize("processes", [3, pytest.param(32, marks=pytest.mark.stress)])
def test_many_processes_compile_each_unit_once(
    processes: int, store: Store, stub: Stub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STUB_MODE", "slow")
    folders = (str(ROOT / folder) for folder in ("", "store", "backends", "consumers"))
    monkeypatch.setenv("PYTHONPATH", ":".join(folders))
    arguments = [sys.executable, "-c", CHILD, str(PENDULUM), stub.command, str(store.root), str(tmp_path)]
    children = [subprocess.Popen([*arguments, str(i)], stdout=subprocess.PIPE, text=True) for i in range(processes)]
    for i in range(processes):
        while not (tmp_path / f"ready{i}").exists():
            time.sleep(0.01)
    (tmp_path / "go").touch()
    answers = [child.communicate(timeout=60)[0] for child in children]
    assert [child.returncode for child in children] == [0] * processes
    assert len(set(answers)) == 1
    assert stub.compiled() == ["crba", "minv"]


def _full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_folder_for_temporary_files(
    request_for: Make, store: Store, stub: Stub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plan = make_plan(request_for("crba"), store)
    before = stored_model(plan.request, store)
    monkeypatch.setattr(Path, "write_text", _full)
    with pytest.raises(CompileError, match=rf"crba .* {tmp_path}/scratch/.* No space left on device; .* set TMPDIR"):
        build(plan, store)
    monkeypatch.setattr("grid_store.scratch.tempfile", SimpleNamespace(mkdtemp=_full, gettempdir=tempfile.gettempdir))
    with pytest.raises(CompileError, match=r"crba .* a temporary folder: .* No space left on device; .* set TMPDIR"):
        build(plan, store)
    assert list((tmp_path / "scratch").iterdir()) == []
    assert [entry.key for entry in store.entries() if entry.meta["kind"] == "unit"] == []
    assert stored_model(plan.request, store) == before


def test_a_store_that_is_full_when_the_unit_comes(
    request_for: Make, store: Store, stub: Stub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plan = make_plan(request_for("crba"), store)
    monkeypatch.setattr("shutil.move", _full)
    with pytest.raises(StoreWriteError, match=rf"{store.root}: .*No space left on device; .* free space"):
        build(plan, store)
    assert list((tmp_path / "scratch").iterdir()) == []
    assert list((store.root / "v1" / "tmp").iterdir()) == []


def test_a_damaged_memory_of_a_compiler_is_replaced(
    request_for: Make, store: Store, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_plan(request_for("crba"), store)
    path = next(entry.path(FILE) for entry in store.entries() if FILE in entry.files)
    path.chmod(0o600)
    path.write_bytes(b"?" * path.stat().st_size)
    make_plan(request_for("crba"), store)
    [entry] = [entry for entry in store.entries() if FILE in entry.files]
    assert stub.command in entry.verified(FILE).read_text()
