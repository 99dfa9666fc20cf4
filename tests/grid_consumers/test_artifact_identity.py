"""What counts for an artifact: sources, headers, options and every file that the compiler or the linker reads."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.grid_consumers.conftest import Project, weighted_mass
from tests.grid_core.units import GOLDEN


def test_what_is_there_is_not_compiled_again(project: Project, compiled_files: list[str]) -> None:
    first = project.build()
    assert first.compiled
    assert sorted(compiled_files) == ["helper.cpp", "use.cpp"]
    again = project.build()
    assert not again.compiled
    assert (again.path, again.input_key) == (first.path, first.input_key)
    other = project.build("leg")
    assert (other.path, other.compiled) == (first.path, False)
    assert len(compiled_files) == 2
    assert project.build(force_rebuild=True).compiled
    assert sorted(compiled_files) == ["helper.cpp", "helper.cpp", "use.cpp", "use.cpp"]


def test_only_sources_that_changed_are_compiled(project: Project, compiled_files: list[str]) -> None:
    before = project.build()
    compiled_files.clear()
    project.write("helper.cpp", 'extern "C" int version() { return -VERSION; }\n')
    after = project.build()
    assert compiled_files == ["helper.cpp"]
    assert after.content_key != before.content_key
    project.build(artifact_name="other.so", link_flags=["-Wl,-z,now"])
    assert compiled_files == ["helper.cpp"]


@pytest.mark.parametrize(
    ("edited", "text", "reason"),
    [
        ("second/detail/weight.hpp", "#define WEIGHT 5\n", "include/1/detail/weight.hpp changed"),
        ("first/weights.hpp", "#define WEIGHT 5\n", "include/0/weights.hpp is new"),
        ("weights.hpp", "#define WEIGHT 5\n", "source/weights.hpp is new"),
        ("first/detail/weight.hpp", None, None),
        ("second/detail/unused.hpp", "#define WEIGHT 5\n", None),
    ],
)
def test_headers_count_by_content(project: Project, edited: str, text: str | None, reason: str | None) -> None:
    """An edit, a header found earlier, none: a quoted name is looked for beside its includer first."""
    before = project.build()
    project.write(edited, text or "#define WEIGHT 5\n")
    plan = project.plan()
    assert plan["cached"] == (reason is None)
    if reason is None:
        assert (plan["content_key"], plan["would"], plan["stale_reasons"]) == (before.content_key, "load", None)
    else:
        assert reason in plan["stale_reasons"]
        assert plan["would"].startswith("compile (")
        after = project.build()
        assert after.content_key == plan["content_key"] != before.content_key
        mass = [weighted_mass(a, [0.1, 0.2]) for a in (before, after)]
        np.testing.assert_allclose(mass[1], 2.5 * mass[0], rtol=1e-6)
    (project.folder / edited).unlink()
    if edited.endswith("weight.hpp") and text:
        project.write(edited, "#define WEIGHT 2\n")
    assert project.plan()["content_key"] == before.content_key, "what was built stays"


def test_a_header_that_might_be_there_counts(project: Project) -> None:
    project.write(
        "second/weights.hpp", '#if __has_include("mine.hpp")\n#include "mine.hpp"\n#else\n#define WEIGHT 2\n#endif\n'
    )
    before = project.build()
    project.write("first/mine.hpp", "#define WEIGHT 4\n")
    assert project.plan()["content_key"] != before.content_key


def test_a_file_that_is_asked_for_and_not_read_counts(project: Project) -> None:
    asks = '#if __has_include("fast.hpp")\n#define VERSION_ 7\n#else\n#define VERSION_ VERSION\n#endif\n'
    project.write("helper.cpp", f'{asks}extern "C" int version() {{ return VERSION_; }}\n')
    first = project.build()
    assert not project.build().compiled
    project.write("first/fast.hpp", "#error nobody reads this")
    second = project.build()
    assert (second.compiled, second.content_key == first.content_key) == (True, False)
    assert [ctypes.CDLL(str(artifact.path)).version() for artifact in (first, second)] == [3, 7]
    (project.folder / "first" / "fast.hpp").unlink()
    assert project.build().content_key == first.content_key


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"defines": {"VERSION": 4}}, "defines changed"),
        ({"extra_flags": ["-O1"]}, "extra_flags changed"),
        ({"link_flags": ["-lm"]}, "link_flags changed"),
        ({"artifact_name": "other.so"}, "artifact_name changed"),
        ({"dtype": "float64"}, "dtype changed"),
        ({"floating_base": True}, "options changed"),
        ({"algorithm_list": ["crba", "minv"]}, "algorithms changed"),
        ({"emit_plant": True}, "sections changed"),
        ({"urdf": GOLDEN / "iiwa14.urdf"}, "description changed"),
    ],
)
def test_options_are_part_of_the_identity(project: Project, more: dict[str, Any], reason: str) -> None:
    before = project.build()
    plan = project.plan(**more)
    assert not plan["cached"]
    assert plan["input_key"] != before.input_key
    assert reason in plan["stale_reasons"]


def test_files_that_nobody_includes_count_when_they_are_listed(project: Project) -> None:
    table = project.write("table.inc", "1 2 3\n")
    keys = {project.plan()["input_key"], project.plan(headers=[table])["input_key"]}
    table.write_text("4 5 6\n")
    keys.add(project.plan(headers=[table])["input_key"])
    assert len(keys) == 3
    before = project.build(headers=[table])
    table.write_text("7 8 9\n")
    assert project.plan(headers=[table])["stale_reasons"] == ["headers changed"]
    assert project.build(headers=[table]).content_key != before.content_key


def test_libraries_of_the_link_count_by_content(project: Project) -> None:
    project.write("helper.cpp", 'extern "C" int number();\nextern "C" int version() { return number(); }\n')

    def library(value: int) -> Path:
        source = project.write("number.c", f"int number() {{ return {value}; }}\n")
        made = project.folder / "libnumber.a"
        subprocess.run(["g++", "-x", "c", "-fPIC", "-c", str(source), "-o", str(made) + ".o"], check=True)
        made.unlink(missing_ok=True)
        subprocess.run(["ar", "rcs", str(made), str(made) + ".o"], check=True)
        return made

    flags = [f"-L{library(1).parent}", "-lnumber"]
    keys = {project.build(link_flags=flags).content_key, project.build(link_flags=[str(library(1))]).content_key}
    library(2)
    keys |= {project.build(link_flags=flags).content_key, project.build(link_flags=[str(library(2))]).content_key}
    assert len(keys) == 4


def test_files_that_options_name_count_by_content(project: Project) -> None:
    script = project.write("exports.map", "{ global: *; };")
    first = project.build(link_flags=[f"-Wl,--version-script={script}"])
    assert not project.build(link_flags=[f"-Wl,--version-script={script}"]).compiled
    project.write("exports.map", "{ global: weighted_mass; local: *; };")
    assert project.plan(link_flags=[f"-Wl,--version-script={script}"])["stale_reasons"] == ["libraries changed"]
    second = project.build(link_flags=[f"-Wl,--version-script={script}"])
    assert (first.content_key == second.content_key, second.compiled) == (False, True)
    assert hasattr(ctypes.CDLL(str(first.path)), "version")
    assert not hasattr(ctypes.CDLL(str(second.path)), "version")
    written = project.write("written.map", "what the linker will replace")
    assert project.build(link_flags=[f"-Wl,-Map={written}"]).compiled
    assert not project.build(link_flags=[f"-Wl,-Map={written}"]).compiled


def test_files_that_options_for_sources_name_count_by_content(project: Project) -> None:
    names = project.write("names.txt", "weighted_mass\n")
    flags = ["-D", f"NAMES={names}"]
    assert project.build(extra_flags=flags).compiled
    project.write("names.txt", "version\n")
    assert project.plan(extra_flags=flags)["stale_reasons"] == ["named_files changed"]
    assert project.build(extra_flags=flags).compiled


def test_libraries_of_the_environment_count_by_content(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("lib/libnumber.a", "")
    monkeypatch.setenv("LIBRARY_PATH", str(project.folder / "lib"))
    before = project.plan(link_flags=["-l:libnumber.a"])
    project.write("lib/libnumber.a", "changed")
    assert project.plan(link_flags=["-l:libnumber.a"])["input_key"] != before["input_key"]
    assert project.plan(link_flags=["-lnumber"])["input_key"] != before["input_key"]
