"""Hostile names: whatever a description calls things, generated code means the same."""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid_core.codegen.render import render_header, render_unit
from grid_core.codegen.text import comment, cstring
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model, load_model
from grid_core.plugins.manager import load_catalogue
from grid_core.toolchains import CxxCompiler
from tests.grid_core.units import compile_text

HOSTILE = [
    '"; int injected = 1; //',
    "*/ int injected = 1; /*",
    "ends in a backslash \\",
    "line\nint injected = 1;",
    "return\rint injected = 1;",
    "trigraph ??/",
    "separators \u2028 int injected = 1; \u2029 \x85 \x0b \x0c",
    "right to left \u202e ; injected",
    "#define T int",
    'R"(raw)"',
    "Größe 机器人 🤖",
    "'%s' {0} {{ 7 * 7 }} {% raw %}",
    "\\u000aint injected;",
]

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def robot(name: str) -> Model:
    quoted = quoteattr(name).replace("\n", "&#10;").replace("\r", "&#13;").replace("\x0b", "").replace("\x0c", "")
    other = quoted[:-1] + "2" + quoted[-1]
    return load_model(
        f"""<robot name={quoted}><link name="base"/>
        <link name="l1">{INERTIAL}</link><link name="l2">{INERTIAL}</link>
        <joint name={quoted} type="continuous"><parent link="base"/><child link="l1"/></joint>
        <joint name={other} type="continuous"><origin xyz="1 0 0"/><parent link="l1"/><child link="l2"/></joint>
        </robot>"""
    )


def without_comments(text: str) -> str:
    return "\n".join(line.partition("//")[0].rstrip() for line in text.splitlines())


@pytest.fixture(scope="module")
def plain() -> tuple[str, str]:
    return rendered(robot("plain"))


def rendered(model: Model) -> tuple[str, str]:
    algorithms = load_catalogue().algorithms
    unit = render_unit(algorithms["inverse_dynamics_gradient"], model, algorithms, TraceSettings(), "float32")
    return unit, render_header(["crba", "inverse_dynamics_gradient"], model, algorithms, TraceSettings())


@pytest.mark.parametrize("name", HOSTILE)
def test_only_comments_and_literals_change(name: str, plain: tuple[str, str]) -> None:
    model = robot(name)
    unit, header = rendered(model)
    assert without_comments(unit) == without_comments(plain[0])
    assert len(unit.splitlines()) == len(plain[0].splitlines())
    literal = "    constexpr const char* table[]"
    lines = [
        (a, b) for a, b in zip(header.split("\n"), plain[1].split("\n")) if a.partition("//")[0] != b.partition("//")[0]
    ]
    assert [a.startswith(literal) for a, _ in lines] == [True, True], "names of joints and of frames"


def test_hostile_names_compile_and_arrive(cxx: CxxCompiler, tmp_path: Path) -> None:
    models, algorithms = [robot(name) for name in HOSTILE], load_catalogue().algorithms
    for number, model in enumerate(models):
        header = render_header(["crba"], model, algorithms, TraceSettings(), f"robot{number}")
        (tmp_path / f"{number}.hpp").write_text(header, "utf-8")
    includes = "".join(f'#include "{number}.hpp"\n' for number in range(len(models)))
    prints = "".join(
        f"std::puts(robot{number}::model::joint_name(0)); std::putchar(0);" for number in range(len(models))
    )
    source, program = tmp_path / "main.cpp", tmp_path / "main"
    source.write_text(f"#include <cstdio>\n{includes}int main() {{ {prints} }}\n")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-trigraphs", "-O0"]
    subprocess.run([str(cxx.path), *flags, str(source), "-o", str(program)], check=True)
    printed = subprocess.run([str(program)], capture_output=True, check=True).stdout.decode().split("\n\0")
    assert printed == [*(model.joints[0].name for model in models), ""]


def test_hostile_units_compile(cxx: CxxCompiler, tmp_path: Path) -> None:
    compile_text(cxx, rendered(robot(" ".join(HOSTILE).replace("\n", "").replace("\r", "")))[0], tmp_path)


@given(st.text())
def test_comments_stay_on_one_line(text: str) -> None:
    found = comment(text)
    assert len(f"// {found} end".splitlines()) == 1
    assert not set(found) & {"\\", "?"}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_string_literals_are_plain_and_exact(text: str) -> None:
    found = cstring(text)
    assert all(32 <= ord(c) < 127 for c in found)
    assert '"' not in found
    assert found.encode().decode("unicode_escape").encode("latin-1").decode("utf-8") == text
