from __future__ import annotations

import os
import shutil
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from grid_core.errors import ToolchainError
from grid_core.toolchains import CxxCompiler, find_compiler, fingerprint, process

Script = Callable[[str, str], Path]


def only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(path))


def test_nothing_on_path_lists_what_was_tried_path_and_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(tmp_path, monkeypatch)
    with pytest.raises(ToolchainError) as caught:
        find_compiler()
    message = str(caught.value)
    for part in ("g++", "clang++", "c++", f"PATH={tmp_path}", "set CXX", 'device="reference"'):
        assert part in message


def test_a_request_is_not_replaced_by_another_compiler() -> None:
    with pytest.raises(ToolchainError, match="requested: 'no-such-compiler' is not an executable") as caught:
        find_compiler("no-such-compiler")
    assert "clang++:" not in str(caught.value)


def test_cxx_comes_first(compiler: CxxCompiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").symlink_to(compiler.path)
    monkeypatch.setenv("CXX", str(tmp_path / "mine"))
    found = find_compiler()
    assert found.path == tmp_path / "mine"
    assert found.identity() == compiler.identity()


def test_a_broken_cxx_is_reported_and_passed_over(compiler: CxxCompiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.warns(UserWarning, match=r"CXX='no-such-compiler' does not work"):
        found = find_compiler()
    assert found == compiler


def test_a_launcher_and_options_are_kept(compiler: CxxCompiler, script: Script, source: Path, tmp_path: Path) -> None:
    launcher = script("launcher", 'exec "$@"')
    found = find_compiler(f"{launcher} {compiler.path} -DNUMBER=7")
    assert found.command == (str(launcher), str(compiler.path), "-DNUMBER=7")
    assert fingerprint(launcher) in found.stamp
    assert fingerprint(compiler.path) in found.stamp
    assert found.identity()["options"] == "-DNUMBER=7"


def test_a_folder_with_a_space_is_a_path(compiler: CxxCompiler, tmp_path: Path) -> None:
    folder = tmp_path / "my tools"
    folder.mkdir()
    (folder / "cxx").symlink_to(compiler.path)
    assert find_compiler(str(folder / "cxx")).command == (str(folder / "cxx"),)


def test_a_compiler_that_cannot_compile_fails_the_probe(script: Script) -> None:
    stub = script("stub", 'case "$1" in -*version|-dumpmachine) echo stub 1.0;; *) echo no headers; exit 1;; esac')
    with pytest.raises(ToolchainError, match=r"cannot compile a small C\+\+17 library:\s+no headers"):
        find_compiler(str(stub))


def test_a_compiler_that_writes_rubbish_fails_the_probe(script: Script) -> None:
    answers = 'case "$1" in -*version|-dumpmachine) echo stub 1.0; exit;; esac'
    rubbish = script("stub", f'{answers}\nfor x; do last=$x; done; echo rubbish > "$last"')
    with pytest.raises(ToolchainError, match="does not load"):
        find_compiler(str(rubbish))


def test_an_old_compiler_fails_the_probe(compiler: CxxCompiler, script: Script) -> None:
    old = script("old", f'exec {compiler.path} "$@" -U__clang_major__ -D__clang_major__=7 -U__GNUC__ -D__GNUC__=8')
    with pytest.raises(ToolchainError, match="older than version"):
        find_compiler(str(old))


def test_a_program_that_is_no_compiler_is_passed_over(script: Script) -> None:
    with pytest.raises(ToolchainError, match="--version fails with exit status 2"):
        find_compiler(str(script("stub", "exit 2")))


def test_the_first_search_is_remembered(compiler: CxxCompiler, monkeypatch: pytest.MonkeyPatch) -> None:
    first = find_compiler()
    forbid_processes(monkeypatch)
    assert find_compiler() is first


def test_a_known_compiler_is_found_again_without_running_it(
    compiler: CxxCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = compiler.to_json()
    forbid_processes(monkeypatch)
    assert find_compiler(known=[CxxCompiler.from_json(record)]) == compiler


def test_a_replaced_compiler_is_probed_again(compiler: CxxCompiler, script: Script) -> None:
    wrapper = script("wrapper", f'exec {compiler.path} "$@"')
    before = find_compiler(str(wrapper))
    script("wrapper", 'echo "gone"; exit 1')
    with pytest.raises(ToolchainError):
        find_compiler(str(wrapper), known=[before])


def test_another_compiler_first_on_path_is_noticed(
    compiler: CxxCompiler, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = find_compiler()
    wrapper = script(first.path.name, f'exec {compiler.path} "$@"')
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    assert find_compiler(known=[first]).path == wrapper


def test_the_fingerprint_changes_with_size_and_time(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("one")
    os.utime(program, ns=(1, 1))
    seen = {fingerprint(program)}
    program.write_text("three")
    os.utime(program, ns=(1, 1))
    seen.add(fingerprint(program))
    os.utime(program, ns=(1, 2))
    seen.add(fingerprint(program))
    assert len(seen) == 3


@pytest.mark.skipif(not shutil.which("clang++"), reason="needs clang++")
def test_clang_works_as_well() -> None:
    assert find_compiler("clang++").kind == "clang"


def test_a_working_search_warns_about_nothing(compiler: CxxCompiler) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        find_compiler()


def forbid_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)


@pytest.mark.parametrize("option", ["--version", "-dumpmachine", "-o"])
def test_a_compiler_that_hangs_is_told_and_stopped(
    script: Script, monkeypatch: pytest.MonkeyPatch, option: str, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(process, "PATIENCE", 0.3)
    monkeypatch.setattr(process, "NOTICE", 0.1)
    hanging = script("stub", f'case "$*" in *{option}*) sleep 60; exit;; esac\necho stub 1.0')
    began = time.monotonic()
    with pytest.raises(ToolchainError, match=r"after 0\.3 s; it was stopped"):
        find_compiler(str(hanging))
    assert time.monotonic() - began < 30
    what = f"a small library that {hanging} compiles" if option == "-o" else f"{hanging} {option}"
    assert caplog.messages == [f"{what} has not finished after 0.1 s; it is stopped after 0.3 s"]


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("exit 0", "--version prints nothing, as no compiler does"),
        ("exit 1", "--version fails with exit status 1: it says nothing else; is it a compiler?"),
        ('[ "$1" != --version ] || echo true 9.4', "-dumpmachine prints nothing, as no compiler does"),
    ],
)
def test_true_and_false_are_no_compilers(script: Script, body: str, complaint: str) -> None:
    with pytest.raises(ToolchainError) as caught:
        find_compiler(str(script("stub", body)))
    assert complaint in str(caught.value)
