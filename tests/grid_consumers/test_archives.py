"""Artifacts in files: they are loaded where there is neither a compiler nor the project."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import grid_rbd
from grid_store import Store
from tests.command_line import run
from tests.grid_consumers.conftest import Project, weighted_mass


def test_an_artifact_travels(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = weighted_mass(project.build(), [0.1, 0.2])
    project.build("other", defines={"VERSION": 4})
    file, elsewhere = tmp_path / "arm.tar.gz", tmp_path / "elsewhere"
    assert (
        "0 robots, 1 artifact"
        in run("export", "--artifact", "planner/arm", "-o", file, "--cache-dir", project.root).out
    )
    shutil.rmtree(project.root)
    shutil.rmtree(project.folder)
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = run("import", file, "--cache-dir", elsewhere)
    assert (ran.code, "planner/arm registered" in ran.out) == (0, True)
    assert [artifact["name"] for artifact in grid_rbd.list_artifacts("planner", elsewhere)] == ["arm"]
    assert (weighted_mass(grid_rbd.load_artifact("planner", "arm", elsewhere), [0.1, 0.2]) == expected).all()
    again = grid_rbd.import_robots(file, elsewhere)
    assert again["artifacts"] == [{"name": "planner/arm", "outcome": "present", "reason": ""}]
    assert grid_rbd.gc_cache(elsewhere, execute=True, minimum_hours=0.0)["entries_removed"] == []


def test_everything_is_what_has_a_name(project: Project, tmp_path: Path) -> None:
    project.build()
    Store(project.root).bind("robot", {"no": "robot"})
    report = grid_rbd.export_robots(tmp_path / "all.tar.gz", cache_dir=project.root)
    assert (report["robots"], report["artifacts"]) == (["robot"], ["planner/arm"])
    assert grid_rbd.export_robots(tmp_path / "one.tar.gz", ["robot"], project.root)["artifacts"] == []


def test_a_name_that_means_something_else_is_kept(project: Project, tmp_path: Path) -> None:
    here = project.build()
    grid_rbd.export_robots(tmp_path / "arm.tar.gz", cache_dir=project.root)
    other = project.build(defines={"VERSION": 4})
    ran = run("import", tmp_path / "arm.tar.gz", "--cache-dir", project.root)
    assert (ran.code, "planner/arm refused: the name means another one here" in ran.out) == (1, True)
    assert project.load().content_key == other.content_key
    assert run("import", tmp_path / "arm.tar.gz", "--replace", "--cache-dir", project.root).code == 0
    assert project.load().content_key == here.content_key


def test_records_that_are_none_are_refused(project: Project, tmp_path: Path) -> None:
    project.build()
    store = Store(project.root)
    record = store.resolve("arm", consumer="planner")
    assert record is not None
    store.bind("broken", {"schema": 1}, consumer="planner")
    store.bind("../arm", record, consumer="planner")
    store.bind("robot\x1b[2J", {"no": "robot"})
    grid_rbd.export_robots(tmp_path / "all.tar.gz", cache_dir=project.root)
    report = grid_rbd.import_robots(tmp_path / "all.tar.gz", tmp_path / "elsewhere")
    reasons = {taken["name"]: taken["reason"] for taken in [*report["robots"], *report["artifacts"]]}
    assert reasons["planner/arm"] == ""
    assert "its record is broken: content is None" in reasons["planner/broken"]
    assert reasons["planner/../arm"] == "it is no name of an artifact"
    assert reasons["robot\x1b[2J"] == "it is no name of a robot"
    assert Store(tmp_path / "elsewhere").names(consumer="planner") == ["arm"]
    assert not report["ok"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (["arm"], grid_rbd.OptionError, "artifacts has the entry 'arm', expected CONSUMER/NAME, such as"),
        ("planner/arm", grid_rbd.OptionError, "artifacts is 'planner/arm', expected a sequence of names"),
        ([3], grid_rbd.OptionError, "artifacts has the entry 3, expected CONSUMER/NAME"),
        (["planner/../arm"], grid_rbd.OptionError, "the name of an artifact is '../arm'"),
        (["planner/ram"], grid_rbd.ArtifactNotFoundError, "'planner' has no artifact 'ram'; did you mean 'arm'"),
        (["planer/arm"], grid_rbd.ArtifactNotFoundError, "'planer' has no artifacts in .*; did you mean 'planner'"),
    ],
)
def test_bad_names(given: object, error: type[Exception], message: str, project: Project, tmp_path: Path) -> None:
    Store(project.root).bind("arm", {}, consumer="planner")
    with pytest.raises(error, match=message):
        grid_rbd.export_robots(tmp_path / "out.tar.gz", cache_dir=project.root, artifacts=given)  # type: ignore[arg-type]
    assert not (tmp_path / "out.tar.gz").exists()
