"""The robots that ship with the package, so that there is something to try without a description of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grid_core.errors import DescriptionNotFoundError, nearest

FOLDER = Path(__file__).parent / "data"


def example_robots() -> dict[str, Path]:
    """Return the shipped robot descriptions by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.urdf"))}


def find_description(robot: str | Path, registered: Sequence[str] = ()) -> Path:
    """Return the file that a user means: a path, or the name of a shipped robot.

    ``registered`` are names that the user may have meant as well, for the message.

    Raises
    ------
    DescriptionNotFoundError
        It is neither; also a FileNotFoundError.
    """
    path, shipped = Path(robot), example_robots()
    if path.is_file():
        return path
    if str(robot) in shipped:
        return shipped[str(robot)]
    if path.exists():  # a folder, say: whoever reads it tells what it is
        return path
    kinds, names = "example or registered" if registered else "example", list(dict.fromkeys((*shipped, *registered)))
    raise DescriptionNotFoundError(
        f"there is no file {str(robot)!r} and no {kinds} robot of that name{nearest(str(robot), names)}; "
        f"give the path of a URDF file, or one of {', '.join(names)}"
    )
