"""What a wheel contains is decided by `setup.py`; nothing in the source roots may be forgotten by it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

CHECKOUT = Path(__file__).parents[1]
ROOTS = [
    CHECKOUT / folder
    for folder in (
        "grid_rbd",
        "grid_core",
        "grid_plugins",
        "store/grid_store",
        "backends/grid_backends",
        "consumers/grid_consumers",
    )
]
SHIPPED = {".py", ".pyi", ".typed", ".j2", ".h", ".hpp", ".cuh", ".urdf"}
"""Kinds of files that `setup.py` puts into a wheel."""
COMPILED = {".cpp", ".so", ".pyc"}


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.name)
def test_every_folder_with_modules_is_a_package(root: Path) -> None:
    folders = {path.parent for path in root.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.name)
def test_every_package_ships_its_types(root: Path) -> None:
    assert (root / "py.typed").exists()


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.name)
def test_every_file_is_shipped_or_compiled(root: Path) -> None:
    kinds = {PurePosixPath(path).suffix for path in root.rglob("*") if path.is_file()}
    assert kinds <= SHIPPED | COMPILED
