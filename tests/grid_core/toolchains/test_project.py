"""Projects: what sources include, objects and libraries, with every compiler that is here."""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grid_core.errors import CompileError
from grid_core.toolchains import detect_level, find_compiler
from grid_core.toolchains.nvcc import find_nvcc
from grid_core.toolchains.project import OBJECT, ProjectCompiler, files_read

SOURCE = """
#include <cmath>
#include "number.hpp"
#ifdef __CUDA_ARCH__
#include "device.hpp"
#endif
extern "C" int answer() { return NUMBER; }
"""


def _nvcc() -> ProjectCompiler:
    compiler = find_nvcc()
    return compiler.project(f"sm_{compiler.architectures[0]},sm_{compiler.architectures[-1]}")


COMPILERS: dict[str, Callable[[], ProjectCompiler]] = {
    "g++": lambda: find_compiler("g++").project(detect_level()),
    "clang++": lambda: find_compiler("clang++").project(detect_level()),
    "nvcc": _nvcc,
}


@pytest.fixture(params=[name for name in COMPILERS if shutil.which(name)])
def project(request: pytest.FixtureRequest) -> ProjectCompiler:
    return COMPILERS[request.param]()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def sources(tmp_path: Path, project: ProjectCompiler) -> Path:
    folder = tmp_path / "a folder # of mine"
    (folder / "headers").mkdir(parents=True)
    (folder / "headers" / "number.hpp").write_text("#define NUMBER 42\n")
    (folder / "headers" / "device.hpp").write_text("\n")
    suffix = "cu" if "nvcc" in project.command[0] else "cpp"
    (folder / f"use.{suffix}").write_text(SOURCE)
    return folder


def test_what_is_read_is_what_the_compiler_says(project: ProjectCompiler, sources: Path, work: Path) -> None:
    (source,) = sources.glob("use.*")
    options = [f"-I{sources / 'headers'}"]
    scanned = project.scan(source, options, work)
    assert scanned[0] == source
    own = {path.name for path in scanned if path.is_relative_to(sources)}
    assert own == {source.name, "number.hpp", *(["device.hpp"] if source.suffix == ".cu" else [])}
    assert any(path.name == "cmath" for path in scanned)
    assert project.compile(source, options, work) == scanned
    project.build_library([work / OBJECT], (), "answer.so", work)
    assert ctypes.CDLL(str(work / "answer.so")).answer() == 42


def test_a_header_that_is_missing_is_an_error_with_the_log(project: ProjectCompiler, sources: Path, work: Path) -> None:
    (source,) = sources.glob("use.*")
    with pytest.raises(CompileError, match=rf"(?s)on use\.\w+; log: {work}/scan.log.*number\.hpp"):
        project.scan(source, (), work)


def test_a_linker_that_writes_no_library_is_an_error(work: Path, tmp_path: Path) -> None:
    linker = tmp_path / "linker"
    linker.write_text("#!/bin/sh\necho hello > answer.so\n")
    linker.chmod(0o755)
    with pytest.raises(CompileError, match=r"answer\.so is no shared library"):
        ProjectCompiler((str(linker),), (), ()).build_library([], (), "answer.so", work)


def test_rules_for_make_are_read_as_make_reads_them(tmp_path: Path) -> None:
    rule = tmp_path / "rule.d"
    rule.write_text("use.o: /a\\ b/use.cpp \\\n /c\\#d/e$$f.hpp\\\n  g:h.hpp\n")
    assert files_read(rule) == [Path("/a b/use.cpp"), Path("/c#d/e$f.hpp"), Path("g:h.hpp")]
