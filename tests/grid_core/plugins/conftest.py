"""Plugins in memory and on disk."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grid_core.plugins import manager

SOURCE = """
from grid_core.plugins import Algorithm, Input, Output, hookimpl

def emit(k):
    k.output("y", [{factor} * x for x in k.input("x")])

@hookimpl
def grid_algorithms():
    return [Algorithm("{name}", "toys", "A toy.", (Input("x", ("nv",), "in"),), (Output("y", ("nv",), "out"),), emit,
                      requires={requires!r})]
"""
"""A plugin with one algorithm."""

Installed = Callable[..., Path]


@pytest.fixture(autouse=True)
def _fresh_catalogues(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(manager.DISABLE, raising=False)
    monkeypatch.setattr(manager, "_said", set())
    manager.load_catalogue.cache_clear()
    manager.survey_plugins.cache_clear()
    yield
    manager.load_catalogue.cache_clear()
    manager.survey_plugins.cache_clear()


@pytest.fixture
def plugin_file(tmp_path: Path) -> Callable[..., str]:
    """Return ``write(stem, source, name=..., factor=..., requires=...) -> path``."""

    def write(stem: str, source: str = SOURCE, **values: object) -> str:
        path = tmp_path / f"{stem}.py"
        path.write_text(source.format(**{"name": stem, "factor": 2.0, "requires": (), **values}))
        return str(path)

    return write


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installed]:
    """Return ``install(name, {file: text}, version) -> folder``: a package with an entry point, on ``sys.path``."""
    site = tmp_path / "site"
    before = set(sys.modules)

    def install(name: str, files: dict[str, str], version: str = "1.0", target: str | None = None) -> Path:
        for file, text in files.items():
            path = site / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        info = site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[grid_rbd.plugins]\n{name} = {target or name}\n")
        monkeypatch.syspath_prepend(str(site))
        return site / name

    yield install
    for module in set(sys.modules) - before:
        if str(getattr(sys.modules[module], "__file__", "")).startswith(str(site)):
            del sys.modules[module]
