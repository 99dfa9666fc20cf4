"""Prepared artifacts: found without a compiler, refused when they do not fit, kept while somebody needs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import grid_rbd
from grid_consumers import artifact
from grid_consumers.record import make_record
from grid_store import StoreWriteError
from grid_store.layout import Layout
from tests.grid_consumers.conftest import Project, weighted_mass


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: monkeypatch.setenv("PATH", "/nowhere")


def test_an_artifact_is_loaded_without_compiler_and_sources(project: Project, no_compiler: Callable[[], None]) -> None:
    built = project.build()
    shutil.rmtree(project.folder)
    no_compiler()
    loaded = project.load()
    assert not loaded.compiled
    assert {n: getattr(loaded, n) for n in ("path", "header", "store_dir", "content_key", "input_key", "meta")} == {
        n: getattr(built, n) for n in ("path", "header", "store_dir", "content_key", "input_key", "meta")
    }


def test_names_that_are_not_there(project: Project) -> None:
    with pytest.raises(
        grid_rbd.ArtifactNotFoundError, match=r"'planner' has no artifacts in .*build_artifact makes one"
    ):
        project.load()
    project.build()
    with pytest.raises(grid_rbd.ArtifactNotFoundError, match="no artifact 'arn'; did you mean 'arm'"):
        project.load("arn")
    with pytest.raises(grid_rbd.ArtifactNotFoundError, match=r"'planer' has no artifacts.*did you mean 'planner'"):
        grid_rbd.load_artifact("planer", "arm", project.root)
    with pytest.raises(grid_rbd.OptionError, match="name is 'a/b'"):
        project.load("a/b")
    assert issubclass(grid_rbd.ArtifactNotFoundError, grid_rbd.ConsumerArtifactError)
    assert issubclass(grid_rbd.ArtifactIncompatibleError, grid_rbd.ConsumerArtifactError)
    assert issubclass(grid_rbd.ConsumerArtifactError, grid_rbd.GridError)


@pytest.mark.parametrize("file", ["artifact.so", "grid.hpp"])
def test_a_byte_that_changed_is_refused(project: Project, file: str) -> None:
    built = project.build()
    damaged = built.store_dir / file
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.chmod(0o600)
    damaged.write_bytes(data)
    with pytest.raises(grid_rbd.ArtifactIncompatibleError, match=f"'arm' of 'planner': .*{file} is not the file"):
        project.load()
    again = project.build()
    assert again.compiled
    assert project.load().path == again.path
    weighted_mass(again, [0.1, 0.2])


@pytest.mark.parametrize("harm", ["truncate", "remove"])
def test_files_that_are_not_whole_are_refused(project: Project, harm: str) -> None:
    built = project.build()
    if harm == "truncate":
        os.truncate(built.path, 100)
    else:
        shutil.rmtree(built.store_dir)
    with pytest.raises(grid_rbd.ArtifactIncompatibleError, match="damaged or no longer in the store; build_artifact"):
        project.load()
    (listed,) = grid_rbd.list_artifacts("planner", project.root)
    assert listed["stale_reasons"] == ["its files are damaged or no longer in the store"]
    assert project.plan()["stale_reasons"] == ["its files are damaged or no longer in the store"]
    assert project.build().compiled
    assert project.load().name == "arm"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema": 99}, "record has schema 99, this version reads 1"),
        ({"level": "x86-64-v9"}, "unknown instruction-set level 'x86-64-v9'"),
        ({"level_identity": "another processor"}, "this processor does not run 'x86-64-v"),
        ({"files": None}, "its record is broken: files is None"),
    ],
)
def test_records_of_elsewhere(project: Project, change: dict[str, Any], reason: str) -> None:
    built = project.build()
    project.store.bind("arm", {**built.meta, **change}, consumer="planner")
    with pytest.raises(grid_rbd.ArtifactIncompatibleError, match=f"{reason}.*build_artifact makes it again"):
        project.load()
    assert not project.build().compiled
    project.load()


def test_a_broken_record(project: Project) -> None:
    project.build()
    record = Layout(project.root).name("arm", "planner")
    record.chmod(0o600)
    record.write_text("{")
    with pytest.raises(grid_rbd.ArtifactIncompatibleError, match="its record is broken"):
        project.load()
    (listed,) = grid_rbd.list_artifacts("planner", project.root)
    assert listed == {"consumer": "planner", "name": "arm", "stale_reasons": listed["stale_reasons"]}
    assert not project.build().compiled


@pytest.mark.parametrize(
    ("level", "arch", "fits"),
    [
        ("sm_90", 90, True),
        ("sm_80", 86, True),
        ("sm_86", 80, False),
        ("sm_80,sm_90", 90, True),
        ("sm_80", 90, False),
        ("sm_80,compute_80", 120, True),
        ("x86-64-v2", 90, False),
    ],
)
def test_devices(project: Project, level: str, arch: int, fits: bool) -> None:
    built = project.build()
    record = {**built.meta, "level": level, "level_identity": level}
    project.store.bind("arm", record, consumer="planner")
    if fits:
        assert project.load(cuda_arch=arch).cuda_arch == int(level.split(",", maxsplit=1)[0].removeprefix("sm_"))
    else:
        with pytest.raises(grid_rbd.ArtifactIncompatibleError, match=str(arch)):
            project.load(cuda_arch=arch)
    with pytest.raises(grid_rbd.OptionError, match="cuda_arch is 'x'"):
        project.load(cuda_arch="x")


@pytest.mark.usefixtures("no_driver")
def test_the_gpu_here_decides(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    built = project.build()
    project.store.bind("arm", {**built.meta, "level": "sm_80"}, consumer="planner")
    assert project.load().cuda_arch == 80
    monkeypatch.setattr("grid_backends.native.cuda_device", lambda index: {"compute": 90})
    with pytest.raises(grid_rbd.ArtifactIncompatibleError, match="sm_80, which does not run on compute capability 90"):
        project.load()


def test_lists(project: Project) -> None:
    assert grid_rbd.list_artifacts("planner", project.root) == []
    arm, leg = project.build("arm"), project.build("leg", dtype="float64")
    listed = grid_rbd.list_artifacts("planner", project.root)
    assert [a["name"] for a in listed] == ["arm", "leg"]
    assert [a["path"] for a in listed] == [str(arm.path), str(leg.path)]
    assert [a["meta"]["dtype"] for a in listed] == ["float32", "float64"]
    assert listed[0]["bytes"] > arm.path.stat().st_size
    json.dumps(listed)
    assert grid_rbd.list_artifacts("another", project.root) == []


def collected(project: Project, built: Any) -> bool:
    """Whether a collection takes an artifact that nobody used for days."""
    then = time.time() - 1e6
    os.utime(built.store_dir / "record.json", (then, then))
    return built.content_key in project.store.gc(execute=True)["entries_removed"]


def test_collections_keep_what_manifests_name_and_processes_hold(project: Project) -> None:
    named, forgotten = project.build("arm"), project.build("leg", dtype="float64")
    artifact._leases.clear()
    assert not collected(project, named)
    assert project.load("arm").path == named.path
    assert project.load("leg").path == forgotten.path
    project.store.unbind("leg", consumer="planner")
    assert not collected(project, forgotten), "this process has it"
    artifact._leases.clear()
    assert collected(project, forgotten)
    assert not forgotten.path.exists()


def test_what_is_collected_before_its_name_keeps_it_is_built_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: list[str] = []

    def collect_once(*arguments: Any) -> dict[str, Any]:
        if not collected:
            collected.extend(project.store.gc(execute=True, minimum_age=0.0)["entries_removed"])
        return make_record(*arguments)

    monkeypatch.setattr("grid_consumers.building.make_record", collect_once)
    built = project.build()
    assert built.content_key in collected
    assert built.path.exists()
    assert project.load().path == built.path


def test_a_store_that_moved_and_cannot_be_written(project: Project, mount: Callable[[str], Path]) -> None:
    built = project.build()
    root = mount("rw")
    shutil.copytree(project.root, root, dirs_exist_ok=True)
    subprocess.run(["mount", "-o", "remount,ro", str(root)], check=True)
    loaded = Project(project.folder, root).load()
    assert loaded.path == root / built.path.relative_to(project.root)
    weighted_mass(loaded, [0.1, 0.2])
    again = Project(project.folder, root).build()
    assert (again.path, again.compiled) == (loaded.path, False), "without a warning that the store cannot be written"


def test_a_full_disk_publishes_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("grid_core.build.workplace.shutil.move", full)
    with pytest.raises(StoreWriteError, match=r"No space left on device; .*free space"):
        project.build()
    assert grid_rbd.list_artifacts("planner", project.root) == []
