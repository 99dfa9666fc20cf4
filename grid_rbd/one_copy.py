"""Whether all packages of the project come from one copy of it.

Python that is started in a checkout imports what lies at its root from there, and the rest from where it is installed.
That is harmless while both copies are equal; otherwise it would be a program that nobody wrote.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ROOTS = {
    "grid_core": ".",
    "grid_plugins": ".",
    "grid_store": "store",
    "grid_backends": "backends",
    "grid_consumers": "consumers",
}
"""Where each package lies in a checkout; an installation has all of them side by side."""

SOURCES = (".py", ".j2", ".h", ".hpp", ".cuh")
"""Endings of the files that every copy has."""


def check_one_copy(home: Path) -> None:
    """Raise ``ImportError`` if another package than this one comes from another copy with other files.

    Parameters
    ----------
    home : Path
        Folder of the package ``grid_rbd`` that is imported.
    """
    for package, root in ROOTS.items():
        spec = find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            continue
        found = Path(spec.submodule_search_locations[0])
        own = next((place for place in (home.parent / root / package, home.parent / package) if place.is_dir()), found)
        if found != own and _files(found) != _files(own):
            raise ImportError(
                f"grid_rbd is imported from {home}, but {package} from {found}, which is another version of it: start "
                f"Python in another folder, or install this copy with 'pip install -e {home.parent}'"
            )


def _files(package: Path) -> dict[str, bytes]:
    sources = (path for path in package.rglob("*") if path.suffix in SOURCES)
    return {path.relative_to(package).as_posix(): path.read_bytes() for path in sources}
