"""Python that is started in a checkout, beside an installation: equal copies may mix, others are refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PACKAGES = {
    "grid_rbd": "", "grid_core": "", "grid_plugins": "", "grid_store": "store", "grid_backends": "backends",
    "grid_consumers": "consumers",
}  # fmt: skip


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All packages side by side, as in site-packages."""
    site = tmp_path_factory.mktemp("site")
    ignore = shutil.ignore_patterns("__pycache__", "*.cpp", "*.so")
    for package, root in PACKAGES.items():
        shutil.copytree(CHECKOUT / root / package, site / package, ignore=ignore)
    return site


def start(folder: Path, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Import ``grid_rbd`` in a folder, where Python finds packages before it looks elsewhere."""
    program = (
        f"import sys; sys.path[0:0] = ['', *{[str(path) for path in paths]!r}]; "
        "sys.meta_path = [finder for finder in sys.meta_path if 'editable' not in repr(finder)]; "
        "import grid_rbd, grid_store; print(grid_rbd.__path__[0], grid_store.__path__[0])"
    )
    environment = {**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_copy_alone(installed: Path, tmp_path: Path) -> None:
    assert start(tmp_path, installed).stdout.split() == [f"{installed}/grid_rbd", f"{installed}/grid_store"]
    whole = [CHECKOUT / root for root in ("", "store", "backends", "consumers")]
    assert start(tmp_path, *whole).stdout.split() == [f"{CHECKOUT}/grid_rbd", f"{CHECKOUT}/store/grid_store"]


def test_equal_copies_may_mix(installed: Path) -> None:
    ran = start(CHECKOUT, installed)
    assert ran.stdout.split() == [f"{CHECKOUT}/grid_rbd", f"{installed}/grid_store"], ran.stderr


def test_different_copies_are_refused(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(installed, tmp_path / "other")
    with (tmp_path / "other" / "grid_store" / "store.py").open("a") as file:
        file.write("# another version\n")
    ran = start(CHECKOUT, tmp_path / "other")
    assert ran.returncode == 1
    assert f"ImportError: grid_rbd is imported from {CHECKOUT}/grid_rbd, but grid_store from {tmp_path}" in ran.stderr
    assert f"start Python in another folder, or install this copy with 'pip install -e {CHECKOUT}'" in ran.stderr
