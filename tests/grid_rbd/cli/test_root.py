"""What holds for every command: help, exit codes, error messages, one JSON document."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest
import typer

from grid_core.version import __version__
from grid_rbd.cli.app import app
from grid_rbd.cli.failures import EXIT_CODES
from grid_rbd.cli.options import BuildFlags
from grid_rbd.cli.spelling import Spelling

from .conftest import Run

COMMANDS = [
    *("try", "doctor", "build", "plan", "explain", "generate", "bench", "tune", "list", "show", "forget", "plugins"),
    *("config", "root", "stats", "verify", "repair", "gc", "export", "import", "artifacts"),
]


def test_without_a_command_the_commands_are_explained(run: Run) -> None:
    ran = run()
    assert ran.code == 0
    assert all(command in ran.out for command in COMMANDS)


def test_help_documents_every_exit_code(run: Run) -> None:
    text = " ".join(run("--help").out.split())
    assert all(f"{code} {meaning}" in text for code, meaning in EXIT_CODES.items())


def test_every_argument_of_a_build_is_spelled_as_an_option() -> None:
    spelling = Spelling(typer.main.get_command(app).commands["build"].params)  # type: ignore[attr-defined]
    for argument in BuildFlags().options():
        assert re.fullmatch(r"--[a-z-]+ x is wrong", spelling(f"{argument}='x' is wrong"))
        assert re.fullmatch(r"--[a-z-]+ is wrong", spelling(f"{argument} is wrong"))
    assert spelling("the level of the compiler is low") == "the level of the compiler is low"
    assert spelling("mimic joints: set follow_mimic=False") == "mimic joints: set --free-mimic"
    assert spelling("runtime_cpu_level, cpu_levels") == "runtime_cpu_level, cpu_levels"
    assert spelling("give urdf_path= (a file)") == "give ROBOT (a file)"


SUBCOMMANDS = [
    *("tiers list", "tiers add", "tiers push", "tiers remove", "tiers fallback"),
    *("keys make", "keys list", "keys trust", "keys forget"),
]


@pytest.mark.parametrize("command", [*COMMANDS, *SUBCOMMANDS])
def test_every_command_has_help_and_json(run: Run, command: str) -> None:
    ran = run(*command.split(), "--help")
    assert ran.code == 0
    assert "--json" in ran.out


def test_version(run: Run) -> None:
    assert run("--version").out == f"grid-rbd {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["generate"], 2, "Missing argument"),
        (["build"], 2, "give ROBOT, or --from-plan FILE"),
        (["nonsense"], 2, "nonsense"),
        (["build", "arm7", "--bogus"], 2, "--bogus"),
        (["build", "arm7", "-a", "inverse_dynamic"], 2, "did you mean 'inverse_dynamics'"),
        (["build", "arm7", "--dtype", "float16"], 2, "expected one of float32, float64"),
        (["build", "arm7", "--dtype", "float16"], 2, "error: --dtype is 'float16'"),
        (["build", "arm7", "--friction-model", "tanh"], 2, "set --joint-dynamics"),
        (
            ["build", "arm7", "--friction-width", "1"],
            2,
            "error: --friction-model and --friction-width describe",
        ),
        (["build", "arm7", "--algorithms", ","], 2, "--algorithms"),
        (["build", "arm7", "--level", "native", "--cuda-arch", "90"], 2, "--level native contradicts --cuda-arch 90;"),
        (["build", ""], 3, "is a directory"),
        (["plan", ".."], 3, "is a directory"),
        (["build", "arm7", "--name", ""], 2, "error: --name is '', expected printable text such as"),
        (["build", "arm7", "--name", ".."], 2, "error: --name is '..', expected"),
        (["plan", "arm7", "--name", "../x"], 2, "error: --name is '../x', expected"),
        (["plan", "arm7", "--level", "x86-64-v9"], 2, "x86-64-v4"),
        (["try", "arm7", "--batch", "0"], 2, "--batch"),
        (["build", "no_such_robot"], 3, "arm7, humanoid29, quadruped12"),
        (["build", sys.executable], 3, sys.executable),
        (["plan", "arm7", "--compiler", "no-such-compiler"], 4, "no-such-compiler"),
        (["show", "no_such_robot"], 5, "no_such_robot"),
        (["forget", "no_such_robot"], 5, "no robot 'no_such_robot' is registered"),
        (["forget", "no_such_robot"], 5, "'grid-rbd list' show all"),
        (["forget", "arm", "--consumer", "no_such_project"], 5, "'no_such_project' has no artifacts"),
        (["artifacts", "no/name"], 2, "consumer is 'no/name', expected a letter or digit"),
        (["build", "arm7", "--plugin", "no_such_plugin.py"], 1, "no_such_plugin.py"),
        (["generate", "arm7", "--namespace", "1grid"], 2, "C++ identifier"),
        (["generate", "arm7", "-a", "crba", "-o", "/no/such/folder/grid.hpp"], 2, "/no/such/folder/grid.hpp"),
        (["generate", "arm7", "-o", "-", "--json"], 2, "standard output"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_gives_a_message_and_a_code(run: Run, arguments: list[str], code: int, message: str) -> None:
    ran = run(*arguments)
    assert ran.code == code
    if "--json" not in arguments:
        assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_an_error_is_a_document_too(run: Run) -> None:
    ran = run("show", "no_such_robot", "--json")
    assert ran.code == ran.document["exit_code"] == 5
    assert ran.document["kind"] == "RobotNotRegisteredError"
    assert ran.document["error"] in ran.err


def test_a_usage_error_is_a_document_too(run: Run) -> None:
    ran = run("build", "--json")
    assert (ran.code, ran.document["exit_code"]) == (2, 2)


def test_a_defect_keeps_its_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("grid_rbd.cli.stored.describe_robots", broken)
    with pytest.raises(ZeroDivisionError):
        run("list")


def test_an_interrupt_has_a_code_and_a_message(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("grid_rbd.cli.stored.describe_robots", interrupted)
    ran = run("list", "--json")
    assert (ran.code, ran.err) == (130, "error: interrupted\n")
    assert ran.document["exit_code"] == 130


def test_warnings_are_single_lines_on_standard_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    ran = run("plan", "arm7", "-a", "crba", "--json")
    assert ran.code == 0
    assert ran.document["name"] == "arm7"
    assert ran.err.startswith("warning: CXX='no-such-compiler'")


def test_the_installed_program(tmp_path: Path) -> None:
    program = "from grid_rbd.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", program, "list", "--json", "--cache-dir", str(tmp_path)],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "[]\n", "")


def test_importing_the_library_does_not_import_the_command_line() -> None:
    program = (
        "import sys, grid_rbd; print([m for m in ('typer', 'rich', 'jinja2', 'grid_rbd.cli') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert ran.stdout == "[]\n"


def test_what_a_stream_cannot_encode_is_replaced(tmp_path: Path) -> None:
    environment = {"PYTHONIOENCODING": "ascii", "GRID_RBD_CONFIG_DIR": str(tmp_path)}
    ran = program("tiers", "fallback", "off", **environment)
    assert (ran.returncode, ran.stdout.split()[0], ran.stderr) == (0, "?", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("list", "--json"), 1, "error: standard output cannot be written: No space left on device"),
        (("--help",), 1, "error: standard output cannot be written: No space left on device"),
        (("plan", "--help"), 1, "error: standard output cannot be written: No space left on device"),
        (("plugins", "check", "--help"), 1, "error: standard output cannot be written: No space left on device"),
        (("tiers",), 1, "error: standard output cannot be written: No space left on device"),
        (("show", "nobody", "--json"), 5, "error: no robot 'nobody' is registered"),
    ],
)
def test_full_standard_output_is_one_line_on_standard_error(
    tmp_path: Path, command: tuple[str, ...], code: int, said: str
) -> None:
    with Path("/dev/full").open("w") as full:
        ran = program(*command, stdout=full, GRID_RBD_CACHE_DIR=str(tmp_path))
    assert ran.returncode == code
    assert ran.stderr.startswith(said)
    assert len(ran.stderr.splitlines()) == 1


def test_closed_standard_output_is_one_line_on_standard_error(tmp_path: Path) -> None:
    start = ["-c", "from grid_rbd.cli import main; main()", "list", "--json"]
    command = f"exec {shlex.join([sys.executable, *start])} >&-"
    environment = {**ENVIRONMENT, "GRID_RBD_CACHE_DIR": str(tmp_path)}
    ran = subprocess.run(["sh", "-c", command], env=environment, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, "error: standard output is closed\n")


def test_an_empty_folder_is_not_this_one(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("list", "--cache-dir", "")
    assert (ran.code, "it is empty, expected the path of a folder; leave it out" in ran.err) == (2, True)
    monkeypatch.setenv("GRID_RBD_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert run("root", "--json").document["cache_dir"] == str(tmp_path / "grid-rbd"), "an empty variable is none"


def test_reader_that_has_gone_is_no_error_message(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        ran = program("list", "--json", stdout=pipe, GRID_RBD_CACHE_DIR=str(tmp_path))
    assert (ran.returncode, ran.stderr) == (1, "")


def test_interrupt_while_the_program_starts_is_silent() -> None:
    start = (
        "import builtins, signal; from grid_rbd.cli import main; usual = builtins.__import__\n"
        "def interrupted(name, *rest):\n"
        "    if name == 'rich.console': raise KeyboardInterrupt\n"
        "    return usual(name, *rest)\n"
        "builtins.__import__ = interrupted; main()"
    )
    ran = subprocess.run([sys.executable, "-c", start], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "")


ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def program(*arguments: str, stdout: IO[str] | int = subprocess.PIPE, **environment: str) -> Any:
    """Run the program in a process of its own, with real streams."""
    start = "from grid_rbd.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", start, *arguments],
        env={**ENVIRONMENT, **environment}, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
