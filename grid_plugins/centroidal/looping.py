"""Reading and writing several slots of a loop's row at once, and poses as numbers."""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import Row, Slots, Workspace
from grid_core.trace.linalg import Vector
from grid_core.trace.scalar import Real, Scalar
from grid_core.trace.spatial import Transform


def load(row: Row, source: Workspace, column: int, count: int, offset: int = 0) -> list[Scalar]:
    return [row.load(source, column, offset + n) for n in range(count)]


def store(row: Row, target: Slots, column: int, values: Sequence[Real], *, added: bool = False) -> None:
    for n, x in enumerate(values):
        (row.accumulate if added else row.store)(target, column, x, n)


def flat_pose(pose: Transform) -> Vector:
    """Return the rotation by rows, then the translation: twelve numbers."""
    return (*(x for row in pose.rotation for x in row), *pose.translation)


def pose_of(x: Sequence[Real]) -> Transform:
    return Transform((tuple(x[:3]), tuple(x[3:6]), tuple(x[6:9])), tuple(x[9:12]))
