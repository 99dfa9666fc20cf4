"""``plan``, ``build`` and ``generate``."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

import grid_rbd
from grid_core.errors import StaleRobotError

from .conftest import Run


def test_plan_build_plan(run: Run, pendulum: Path, tmp_path: Path) -> None:
    cache = ("--cache-dir", tmp_path)
    before = run("plan", pendulum, "-a", "crba", *cache)
    assert before.code == 0
    assert "1 unit to build" in before.out
    assert "not been built before" in before.out
    assert not (tmp_path / "v1" / "names").exists() or not any((tmp_path / "v1" / "names").iterdir())

    built = run("build", pendulum, "-a", "crba", "--name", "pendulum", "--json", *cache)
    assert built.code == 0
    assert list(built.document["units"]) == ["crba"]
    assert built.document["model"]["nv"] == 2
    assert "building pendulum: 1/1 crba" in built.err

    after = run("plan", pendulum, "-a", "crba", "--name", "pendulum", "--json", *cache)
    assert after.document["cached"] is True
    assert after.document["would"] == "load"
    assert "everything is stored" in run("plan", pendulum, "-a", "crba", *cache).out

    robot = grid_rbd.get_robot("pendulum", tmp_path)
    m = robot.crba(np.zeros((3, 2)))
    assert m.shape == (3, 2, 2)


def test_build_says_how_to_get_the_robot(run: Run, pendulum: Path) -> None:
    ran = run("build", pendulum, "-a", "crba")
    assert ran.code == 0
    assert "1 unit" in ran.out
    assert 'grid_rbd.get_robot("double_pendulum_continuous")' in ran.out


def test_quiet_builds_show_nothing(run: Run, pendulum: Path, tmp_path: Path) -> None:
    ran = run("--quiet", "build", pendulum, "-a", "crba", "--cache-dir", tmp_path)
    assert (ran.code, ran.err) == (0, "")


def test_force_compiles_again(run: Run, pendulum: Path) -> None:
    run("build", pendulum, "-a", "crba", "--json")
    assert run("build", pendulum, "-a", "crba", "--json").err == ""
    assert "1/1 crba" in run("build", pendulum, "-a", "crba", "--json", "--force").err


def test_options_reach_the_build(run: Run, pendulum: Path) -> None:
    flags = ["--dtype", "float64", "-f", "--joint-dynamics", "--friction-model", "tanh", "--friction-width", "0.1"]
    ran = run("plan", pendulum, "-a", "rnea,crba", "-a", "minv", *flags, "--free-mimic", "--json")
    options = ran.document["code_options"]
    assert (options["dtype"], options["floating_base"], options["follow_mimic"]) == ("float64", True, False)
    assert options["settings"]["friction_model"] == "tanh"
    assert options["settings"]["friction_width"] == 0.1
    assert [unit["algorithm"] for unit in ran.document["units"]] == ["inverse_dynamics", "crba", "minv"]


def test_one_friction_width_per_coordinate(run: Run, pendulum: Path) -> None:
    flags = ["--joint-dynamics", "--friction-model", "tanh", "--friction-width", "0.1", "--friction-width", "0.2"]
    ran = run("plan", pendulum, "-a", "rnea", *flags, "--json")
    assert ran.document["code_options"]["settings"]["friction_width"] == [0.1, 0.2]


def test_generate_writes_a_header(run: Run, pendulum: Path, tmp_path: Path) -> None:
    target = tmp_path / "robot.hpp"
    ran = run("generate", pendulum, "-a", "crba", "--namespace", "mine", "-o", target)
    assert ran.code == 0
    assert str(target) in ran.out.replace("\n", "")
    text = target.read_text()
    assert "namespace mine {" in text
    assert "GRID_HAS_CRBA" in text
    document = run("generate", pendulum, "-a", "crba", "--namespace", "mine", "-o", target, "--json").document
    assert document == {"path": str(target), "bytes": len(text.encode()), "namespace": "mine"}
    assert run("generate", pendulum, "-a", "crba", "--namespace", "mine", "-o", "-").out == text


def test_build_refuses_a_store_that_keeps_nothing(run: Run, pendulum: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ran = run("build", pendulum, "-a", "crba", "--name", "arm", "--cache-dir", tmp_path / "file" / "store", "--json")
    assert ran.code == 1
    assert ran.document["kind"] == "StoreUnavailableError"
    assert "'arm' would not be kept, so nothing was built" in ran.err


@pytest.mark.parametrize("command", ["build", "plan", "generate", "try"])
def test_a_broken_plugin_file_is_an_error(run: Run, pendulum: Path, tmp_path: Path, command: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text("import no_such_module")
    ran = run(command, pendulum, "--plugin", file, "--algorithms", "crba")
    assert (ran.code, ran.out) == (1, "")
    assert f"error: plugin file {file} is broken: ModuleNotFoundError: No module named" in ran.err
    assert "warning" not in ran.err


def test_build_repairs_a_broken_record(run: Run, pendulum: Path, tmp_path: Path) -> None:
    record = tmp_path / "v1" / "names" / "arm.json"
    build = ("build", pendulum, "-a", "crba", "--name", "arm", "--cache-dir", tmp_path)
    assert run(*build).code == 0
    record.unlink()
    record.write_text("{")
    with pytest.raises(StaleRobotError, match=r"'arm' .* register it again"):
        grid_rbd.get_robot("arm", tmp_path)
    assert run("gc", "--cache-dir", tmp_path).code == 1
    assert run(*build).code == 0
    assert grid_rbd.get_robot("arm", tmp_path).nv == 2
    record.unlink()
    record.write_text("{")
    assert grid_rbd.register_robot("arm", pendulum, algorithm_list="crba", cache_dir=tmp_path).nv == 2
    assert run("gc", "--cache-dir", tmp_path).code == 0


def test_plan_reads_the_description(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot name='r'><link name='a'/>")
    ran = run("plan", broken, "-a", "crba")
    assert ran.code == 3
    assert "broken.urdf" in ran.err


def test_a_full_disk_leaves_the_header_that_was_there(
    run: Run, pendulum: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = tmp_path / "grid.hpp"
    header.write_text("kept")

    def fill(*_: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", fill)
    ran = run("generate", pendulum, "-a", "crba", "-o", header)
    assert ran.code == 2
    assert "No space left on device" in ran.err
    assert header.read_text() == "kept"
    assert [path.name for path in tmp_path.glob("*grid.hpp*")] == ["grid.hpp"]


def test_generate_refuses_what_cannot_be_written(run: Run, pendulum: Path, tmp_path: Path) -> None:
    for target, problem in {
        tmp_path: "is a directory, expected a file",
        tmp_path / "no" / "robot.hpp": "is not an existing directory; create it",
        tmp_path / f"{'n' * 300}.hpp": "cannot be written",
    }.items():
        ran = run("generate", pendulum, "-a", "crba", "-o", target)
        assert ran.code == 2
        assert problem in ran.err
