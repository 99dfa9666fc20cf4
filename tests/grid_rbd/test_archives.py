"""Robots in a file: they work where there is no compiler, and bring no code that runs by itself."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import grid_rbd
from grid_store import Store
from tests.command_line import run
from tests.grid_core.build.conftest import Stub
from tests.grid_core.units import GOLDEN, PENDULUM


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere"


def test_a_robot_travels(root: Path, elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = grid_rbd.register_robot("arm", PENDULUM, cache_dir=root, algorithm_list="crba", dtype="float64")
    file = tmp_path / "robots.tar.gz"
    assert run("export", "arm", "-o", file, "--cache-dir", root).code == 0
    ran = run("import", file, "--cache-dir", elsewhere)
    assert (ran.code, "arm registered" in ran.out, "2 new entries" in ran.out) == (0, True, True)
    q = np.linspace(-1, 1, 10).reshape(5, 2)
    expected = robot.crba(q)
    shutil.rmtree(root)
    monkeypatch.setenv("PATH", str(tmp_path))
    np.testing.assert_array_equal(grid_rbd.get_robot("arm", elsewhere).crba(q), expected)
    document = run("import", file, "--json", "--cache-dir", elsewhere).document
    assert (document["entries"], document["present"], document["robots"][0]["outcome"]) == (0, 2, "present")


def test_nothing_is_compiled_after_an_import(
    root: Path, elsewhere: Path, tmp_path: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", stub.command)
    for name, source in (("arm", PENDULUM), ("iiwa", GOLDEN / "iiwa14.urdf")):
        grid_rbd.register_robot(name, source, cache_dir=root, algorithm_list="minv")
    report = grid_rbd.export_robots(tmp_path / "all.tar.gz", cache_dir=root)
    assert (report["robots"], report["bytes"]) == (["arm", "iiwa"], (tmp_path / "all.tar.gz").stat().st_size)
    assert grid_rbd.import_robots(tmp_path / "all.tar.gz", elsewhere)["ok"]
    stub.compiled()
    grid_rbd.register_robot("arm", PENDULUM, cache_dir=elsewhere, algorithm_list="minv")
    assert stub.compiled() == []
    assert grid_rbd.verify_cache(elsewhere)["ok"]


def test_a_name_that_means_something_else_is_kept(
    root: Path, elsewhere: Path, tmp_path: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", stub.command)
    grid_rbd.register_robot("arm", PENDULUM, cache_dir=root, algorithm_list="crba")
    grid_rbd.register_robot("arm", PENDULUM, cache_dir=elsewhere, algorithm_list="crba", dtype="float64")
    file = tmp_path / "arm.tar.gz"
    grid_rbd.export_robots(file, ["arm"], root)
    ran = run("import", file, "--cache-dir", elsewhere)
    assert (ran.code, "the name means another one here" in ran.out) == (1, True)
    assert grid_rbd.get_robot("arm", elsewhere).dtype == "float64"
    assert run("import", file, "--replace", "--cache-dir", elsewhere).code == 0
    assert grid_rbd.get_robot("arm", elsewhere).dtype == "float32"


def test_names_that_would_run_a_file_are_refused(root: Path, elsewhere: Path, tmp_path: Path, stub: Stub) -> None:
    grid_rbd.register_robot("arm", PENDULUM, cache_dir=root, algorithm_list="crba", compiler=stub.command)
    store, evil = Store(root), tmp_path / "evil.py"
    evil.write_text("raise SystemExit('executed')")
    store.bind("evil", {**(store.resolve("arm") or {}), "plugin_files": [str(evil)]})
    store.bind("odd", {"units": "none"})
    store.bind("bare", {**(store.resolve("arm") or {}), "facts": {"device": "cpu"}})
    grid_rbd.export_robots(tmp_path / "all.tar.gz", cache_dir=root)
    report = grid_rbd.import_robots(tmp_path / "all.tar.gz", elsewhere)
    reasons = {robot["name"]: robot["reason"] for robot in report["robots"] if robot["outcome"] == "refused"}
    assert reasons.keys() == {"evil", "odd", "bare"}
    assert "its facts lack max_batch, lazy, algorithm_list" in reasons["bare"]
    assert "needs the plugin file" in reasons["evil"]
    assert "its record is broken" in reasons["odd"]
    assert grid_rbd.list_registered(elsewhere) == ["arm"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["export", "arm"], 2, "Missing option '--output'"),
        (["export", "nobody", "-o", "out.tar.gz"], 5, "no robot 'nobody' is registered"),
        (["export", "-o", "no/such/folder/out.tar.gz"], 2, "cannot be written"),
        (["import", "nothing.tar.gz"], 2, "there is no file 'nothing.tar.gz'"),
        (["import", "."], 2, "is a directory, expected a file"),
    ],
)
def test_bad_input(
    arguments: list[str], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run(*arguments, "--cache-dir", tmp_path / "store")
    assert (ran.code, message in " ".join(ran.err.split())) == (code, True), ran.err
    assert not list(tmp_path.glob("*.part"))


def test_links_and_pipes_stay(root: Path, elsewhere: Path, tmp_path: Path, stub: Stub) -> None:
    grid_rbd.register_robot("arm", PENDULUM, cache_dir=root, algorithm_list="crba", compiler=stub.command)
    link, pipe = tmp_path / "link.tar.gz", tmp_path / "pipe"
    link.symlink_to(tmp_path / "target.tar.gz")
    grid_rbd.export_robots(link, cache_dir=root)
    assert link.is_symlink()
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        received = pool.submit(pipe.read_bytes)
        grid_rbd.export_robots(pipe, cache_dir=root)
    assert pipe.is_fifo()
    (tmp_path / "received.tar.gz").write_bytes(received.result())
    assert grid_rbd.import_robots(tmp_path / "received.tar.gz", elsewhere)["ok"]


@pytest.mark.parametrize("output", ["", ".", "/", "a\0b", 3])
def test_what_is_no_file(output: object, root: Path) -> None:
    with pytest.raises(grid_rbd.OptionError, match=r"output.* is .*, expected (the path of )?a file"):
        grid_rbd.export_robots(output, cache_dir=root)  # type: ignore[arg-type]


def test_a_file_that_is_no_archive(tmp_path: Path, elsewhere: Path) -> None:
    file = tmp_path / "text.tar.gz"
    file.write_text("text")
    ran = run("import", file, "--cache-dir", elsewhere)
    assert (ran.code, "no archive of a store" in ran.err, str(file) in ran.err) == (1, True, True)


def test_one_name_is_no_sequence_of_names(tmp_path: Path) -> None:
    with pytest.raises(grid_rbd.OptionError, match=r"names is 'arm', expected a sequence of names, such as \['arm'\]"):
        grid_rbd.export_robots(tmp_path / "out.tar.gz", "arm", tmp_path / "store")
