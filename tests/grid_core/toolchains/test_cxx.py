from __future__ import annotations

import ctypes
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from grid_core.errors import CompileError, OptionError
from grid_core.toolchains import CxxCompiler, detect_level

Stub = Callable[[str], CxxCompiler]


def build(compiler: CxxCompiler, source: Path, output: Path, *include: Path, extra: tuple[str, ...] = ()) -> None:
    log = output.with_suffix(".log")
    compiler.compile(source, output, level=detect_level(), include=include, log=log, extra=extra)


def test_a_library_is_compiled_and_runs(compiler: CxxCompiler, source: Path, tmp_path: Path) -> None:
    build(compiler, source, tmp_path / "unit.so")
    assert ctypes.CDLL(str(tmp_path / "unit.so")).answer() == 42


def test_relative_paths_name_what_the_caller_means(
    compiler: CxxCompiler, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "number.h").write_text("#define NUMBER 42\n")
    source.write_text('#include "number.h"\nextern "C" int answer() { return NUMBER; }\n')
    monkeypatch.chdir(tmp_path)
    build(compiler, Path(source.name), Path("elsewhere/unit.so"), Path("headers"))
    assert (tmp_path / "elsewhere" / "unit.so").exists()


def test_extra_options_reach_the_compiler(compiler: CxxCompiler, source: Path, tmp_path: Path) -> None:
    source.write_text('extern "C" __attribute__((visibility("default"))) int answer() { return NUMBER; }\n')
    build(compiler, source, tmp_path / "unit.so", extra=("-DNUMBER=7",))
    assert ctypes.CDLL(str(tmp_path / "unit.so")).answer() == 7


def test_equal_sources_make_equal_objects_in_any_folder(compiler: CxxCompiler, source: Path, tmp_path: Path) -> None:
    objects = []
    for name in ("one", "another"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "unit.cpp").write_text(source.read_text())
        build(compiler, folder / "unit.cpp", folder / "unit.so")
        objects.append((folder / "unit.so").read_bytes())
    assert objects[0] == objects[1]


def test_search_paths_of_the_environment_do_not_reach_units(
    compiler: CxxCompiler, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "number.h").write_text("#define NUMBER 42\n")
    source.write_text('#include "number.h"\n')
    monkeypatch.setenv("CPATH", str(tmp_path / "outside"))
    with pytest.raises(CompileError, match=r"number\.h"):
        build(compiler, source, tmp_path / "unit.so")


def test_nan_and_infinity_survive_the_flags(compiler: CxxCompiler, source: Path, tmp_path: Path) -> None:
    body = "int answer(double x) { return (x != x) + 2 * (x > 1e308); }"
    source.write_text(f'extern "C" __attribute__((visibility("default"))) {body}\n')
    build(compiler, source, tmp_path / "unit.so")
    answer = ctypes.CDLL(str(tmp_path / "unit.so")).answer
    assert [answer(ctypes.c_double(x)) for x in (float("nan"), float("inf"), 1.0)] == [1, 2, 0]


def test_an_error_has_the_log_its_last_lines_and_no_output(compiler: CxxCompiler, source: Path, tmp_path: Path) -> None:
    source.write_text("int answer() { return nonsense; }\n")
    with pytest.raises(CompileError) as caught:
        build(compiler, source, tmp_path / "unit.so")
    message, log = str(caught.value), tmp_path / "unit.log"
    assert str(log) in message
    assert "exit status 1" in message
    assert "nonsense" in message
    assert "nonsense" in log.read_text()
    assert log.read_text().startswith(str(compiler.path))
    assert not (tmp_path / "unit.so").exists()


def test_success_without_output_is_an_error(stub: Stub, source: Path, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="wrote nothing"):
        build(stub("exit 0"), source, tmp_path / "unit.so")


def test_success_with_empty_output_is_an_error(stub: Stub, source: Path, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="wrote nothing"):
        build(stub(f": > {tmp_path}/unit.so"), source, tmp_path / "unit.so")
    assert not (tmp_path / "unit.so").exists()


def test_output_of_a_failing_compiler_is_removed(stub: Stub, source: Path, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="exit status 3"):
        build(stub(f"echo half > {tmp_path}/unit.so; exit 3"), source, tmp_path / "unit.so")
    assert not (tmp_path / "unit.so").exists()


def test_a_killed_compiler_is_named_with_the_likely_cause(stub: Stub, source: Path, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"SIGKILL[\s\S]*memory[\s\S]*GRID_RBD_BUILD_JOBS=1"):
        build(stub("kill -9 $$"), source, tmp_path / "unit.so")


def test_a_killed_pass_of_the_compiler_is_recognised(stub: Stub, source: Path, tmp_path: Path) -> None:
    body = "echo 'g++: fatal error: Killed signal terminated program cc1plus'; exit 1"
    with pytest.raises(CompileError, match="GRID_RBD_BUILD_JOBS=1"):
        build(stub(body), source, tmp_path / "unit.so")


def test_a_compiler_that_vanished_is_a_compile_error(source: Path, tmp_path: Path) -> None:
    gone = CxxCompiler((str(tmp_path / "gone"),), version="", target="", stamp="")
    with pytest.raises(CompileError, match="cannot be started"):
        build(gone, source, tmp_path / "unit.so")


def test_an_unknown_level_is_refused_before_anything_runs(compiler: CxxCompiler, source: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"x86-64-v3"):
        compiler.compile(source, tmp_path / "unit.so", level="x86-64-v33", include=(), log=tmp_path / "unit.log")
    assert not (tmp_path / "unit.log").exists()


def test_the_record_restores_the_compiler(compiler: CxxCompiler) -> None:
    assert CxxCompiler.from_json(compiler.to_json()) == compiler


def test_identity_is_plain_text_without_paths(compiler: CxxCompiler) -> None:
    text = json.dumps(compiler.identity())
    assert str(compiler.path.parent) not in text
    assert compiler.identity()["target"] == compiler.target


def test_identity_ignores_the_name_but_not_the_version_or_the_options() -> None:
    gcc = CxxCompiler(("/usr/bin/g++",), "g++ (Distribution 12.2.0-1) 12.2.0\nCopyright", "x86_64-linux-gnu", "")
    renamed = dataclasses.replace(gcc, command=("/opt/c++",), version=gcc.version.replace("g++", "c++"), stamp="x")
    newer = dataclasses.replace(gcc, version=gcc.version.replace("12.2.0-1", "12.2.0-2"))
    narrow = dataclasses.replace(gcc, command=("/usr/bin/g++", "-m32"))
    assert renamed.identity() == gcc.identity()
    assert newer.identity() != gcc.identity()
    assert narrow.identity() != gcc.identity()


def test_identity_of_clang_ignores_where_it_is_installed() -> None:
    one = CxxCompiler(("/usr/bin/clang++",), "clang version 14.0.6\nInstalledDir: /usr/bin", "x86_64-pc-linux-gnu", "")
    other = dataclasses.replace(one, version="clang version 14.0.6\nInstalledDir: /opt/llvm/bin")
    assert one.kind == "clang"
    assert one.identity() == other.identity()
