"""The robots that ship with the package, so that there is something to try without a description of one's own."""

from __future__ import annotations

from pathlib import Path

from grid_core.errors import nearest

FOLDER = Path(__file__).parent / "data"


def example_robots() -> dict[str, Path]:
    """Return the shipped robot descriptions by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.urdf"))}


def find_description(robot: str | Path) -> Path:
    """Return the file that a user means: a path, or the name of a shipped robot.

    Raises
    ------
    FileNotFoundError
        It is neither.
    """
    path = Path(robot)
    if path.is_file():
        return path
    shipped = example_robots()
    try:
        return shipped[str(robot)]
    except KeyError:
        raise FileNotFoundError(
            f"there is no file {str(robot)!r} and no example robot of that name{nearest(str(robot), shipped)}; "
            f"give the path of a URDF file, or one of {', '.join(shipped)}"
        ) from None
