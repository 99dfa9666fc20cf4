"""The code on every page runs, in the order of the page, and its commands succeed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import grid_rbd
from grid_core.testing.conformance import CHECKS
from grid_rbd.cli.failures import EXIT_CODES
from grid_rbd.configuration import settings
from tests import command_line

CHECKOUT = Path(__file__).parents[2]
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]
OPENING = r"^```(\{code-block\} )?(?P<kind>python|console|cpp)\n(?::caption: (?P<file>\S+)\n\n)?"
BLOCK = re.compile(OPENING + r"(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    kind: str
    file: str | None
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page that run; one with a caption is a file."""
    source = page.read_text("utf-8")
    for match in BLOCK.finditer(source):
        line = source.count("\n", 0, match.start("text"))
        yield Block(match["kind"], match["file"], match["text"], line)


FRAMEWORKS = {"frameworks.md": ("jax", "torch"), "store.md": ("fsspec", "cryptography")}
"""What pages need beside the project."""
OWN_STORE = {"store.md"}
"""Pages that look at all of a store."""


@pytest.fixture(autouse=True)
def forget_modules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Let a page import from its copy of the examples what other tests import from the checkout."""
    for name in imported_from(CHECKOUT / "examples"):
        monkeypatch.delitem(sys.modules, name)
    yield
    for name in imported_from(tmp_path):
        del sys.modules[name]


def imported_from(folder: Path) -> list[str]:
    return [
        name for name, module in sys.modules.items() if str(getattr(module, "__file__", "")).startswith(str(folder))
    ]


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
@pytest.mark.filterwarnings("ignore::grid_core.model.findings.URDFWarning")
@pytest.mark.parametrize("page", [p for p in PAGES if any(blocks(p))], ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for framework in FRAMEWORKS.get(page.name, ()):
        pytest.importorskip(framework, reason=f"{framework} is not installed")
    shutil.copytree(CHECKOUT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRID_RBD_CONFIG_DIR", str(tmp_path / "config"))
    if page.name in OWN_STORE:
        monkeypatch.setenv("GRID_RBD_CACHE_DIR", str(tmp_path / "store"))
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        run(block, page, names)


def run(block: Block, page: Path, names: dict[str, Any]) -> None:
    if block.kind == "console":
        for line in block.text.splitlines():
            command(line)
    elif block.file:
        Path(block.file).write_text(block.text)
    else:
        exec(compile("\n" * block.line + block.text, page, "exec"), names)


def command(line: str) -> None:
    if line.startswith("$ grid-rbd "):
        ran = command_line.run(*shlex.split(line.removeprefix("$ grid-rbd ")))
        assert ran.code == 0, f"{line}\n{ran.err}"
    if line.startswith("$ python -m pytest "):
        run_tests(*shlex.split(line.removeprefix("$ python -m pytest ")))


def run_tests(*arguments: str) -> None:
    """Run the tests of a page in a process of their own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_device_code_of_the_guide_for_consumers_compiles(tmp_path: Path) -> None:
    (block,) = (block for block in blocks(CHECKOUT / "docs" / "consumers.md") if block.file == "effort.cu")
    source = tmp_path / "effort.cu"
    source.write_text(block.text)
    arm = CHECKOUT / "examples" / "robots" / "arm7.urdf"
    options = {"sources": [source], "algorithm_list": "inverse_dynamics", "cuda_arch": 90}
    assert grid_rbd.build_artifact("guide", "arm7", arm, **options).compiled


def test_a_tested_algorithm_takes_less_than_25_lines() -> None:
    texts = {block.file: block.text for block in blocks(CHECKOUT / "docs" / "plugins.md") if block.file}
    assert {"kinetic.py", "test_kinetic.py"} == {*texts}
    assert sum(bool(line.strip()) for text in texts.values() for line in text.splitlines()) < 25


def test_every_case_of_the_suite_for_plugins_is_explained() -> None:
    page = (CHECKOUT / "docs" / "plugins.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[a-z0-9`, ]+`) \| ", page.partition("| case | rule |")[2], re.MULTILINE)
    assert {name for row in rows for name in re.findall("[a-z0-9]+", row)} == {*CHECKS}


def test_pages_have_code() -> None:
    assert sum(len(list(blocks(page))) for page in PAGES) > 15


def test_exit_codes_are_documented() -> None:
    page = (CHECKOUT / "docs" / "cli.md").read_text("utf-8")
    assert all(f"| {code} | {meaning} |" in page for code, meaning in EXIT_CODES.items())


def test_every_variable_is_documented_and_shown() -> None:
    sources = [
        path for root in ("grid_core", "grid_rbd", "store", "backends", "consumers") for path in sources_of(root)
    ]
    used = {name for path in sources for name in re.findall(r"\bGRID_RBD_[A-Z_]+", path.read_text("utf-8"))}
    page = (CHECKOUT / "docs" / "cli.md").read_text("utf-8")
    assert used == set(re.findall(r"^`(GRID_RBD_[A-Z_]+)`$", page, re.MULTILINE))
    with pytest.MonkeyPatch.context() as patch:
        for name in used:
            patch.setenv(name, "1")
        origins = {setting.origin for setting in settings()}
    assert {f"environment {name}" for name in used} <= origins


def sources_of(root: str) -> Iterator[Path]:
    return (path for kind in ("*.py", "*.cpp") for path in (CHECKOUT / root).rglob(kind))
