"""The features that costs are of: states, inputs, linear combinations of them, and frames, with their Jacobians.

Along a state the variables are those of its tangent ``[dq; dqd]``, unless a feature says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.manifold import BlockDiagonal, difference, difference_jacobians
from grid_core.plugins.frames import frame_numbers, frame_of
from grid_core.plugins.robot_view import RobotView
from grid_core.trace.lie import Log, quaternion_of
from grid_core.trace.linalg import matmul, matvec, minus, plus, transpose
from grid_core.trace.scalar import Real
from grid_plugins.plant.activations import Bounded
from grid_plugins.plant.terms import Feature, Values


def bounded(feature: Feature, lower: Values, upper: Values) -> list[Bounded | None]:
    """Return the values of a feature with their bounds."""
    sides = zip(feature.values, lower, upper, strict=True)
    return [None if value is None else Bounded(value, low, high) for value, low, high in sides]


def plain(values: Values, target: Values) -> Feature:
    """Return variables themselves, quaternions as they are stored."""
    return Feature(minus(tuple(values), tuple(target)), unit_rows(range(len(values)), len(values)), values)


def linear(matrix: Sequence[Values], values: Values, offset: Values, target: Values) -> Feature:
    """Return ``A v + b`` along ``v``."""
    found = plus(matvec(tuple(map(tuple, matrix)), tuple(values)), tuple(offset))
    return Feature(minus(found, tuple(target)), matrix, found)


def unit_rows(places: Sequence[int], width: int) -> list[Values]:
    """Return rows with a one each."""
    return [[float(column == place) for column in range(width)] for place in places]


def state_tangent(k: KernelBuilder, x: Values, x_des: Values) -> Feature:
    """Return ``[D(q_des, q); qd - qd_des]``; bounds are of coordinates that simply add, and of all velocities."""
    nq, nv = k.model.nq, k.model.nv
    moved = difference(k.model, x_des[:nq], x[:nq])
    _, blocks = difference_jacobians(k.model, x_des[:nq], x[:nq])
    by_q = BlockDiagonal(nv, blocks).dense()
    top = [(*row, *[0.0] * nv) for row in by_q]
    bottom = unit_rows(range(nv, 2 * nv), 2 * nv)
    values: dict[int, Real] = {v0: x[q0] for q0, v0 in added_coordinates(k)}
    residual = [*moved, *minus(tuple(x[nq:]), tuple(x_des[nq:]))]
    return Feature(residual, [*top, *bottom], [*(values.get(i) for i in range(nv)), *x[nq:]])


def added_coordinates(k: KernelBuilder) -> list[tuple[int, int]]:
    """Return the places, in a configuration and its tangent, of coordinates that simply add."""
    return [(q0, v0) for kind, q0, v0, _, _ in k.model.coordinate_blocks if kind == "scalar"]


class FrameFeatures:
    """The features of one frame.

    Parameters
    ----------
    k : KernelBuilder
        Of an algorithm that requires ``frame_motion``.
    frame : sequence of Real
        Its numbers, see :func:`~grid_core.plugins.frames.frame_numbers`.
    q, qd : sequence of Real
        Configuration and velocity; what does not depend on the velocity does not need it.
    """

    def __init__(self, k: KernelBuilder, frame: Values, q: Values, qd: Values = ()) -> None:
        self._rest: Values = [0.0] * k.model.nv
        self._motion: Mapping[str, Any] = k.call("frame_motion", q=q, qd=qd or self._rest, target_jid=frame)

    def position(self, target: Values) -> Feature:
        """Return the position of the frame's origin in the world."""
        position = tuple(row[3] for row in self._motion["transform"][:3])
        return Feature(minus(position, tuple(target)), self._along_q(self._motion["jacobian"][:3]), position)

    def orientation(self, target: Sequence[Values]) -> Feature:
        """Return the rotation vector ``e = log(R_des^T R)`` from the target, with ``J_r(e)^-1 R^T J_angular``."""
        rotation = self._rotation
        log = Log(quaternion_of(matmul(transpose(tuple(map(tuple, target))), rotation)))
        turning = matmul(transpose(log.left_inverse()), transpose(rotation))
        return Feature(log.phi, self._along_q(matmul(turning, tuple(map(tuple, self._motion["jacobian"][3:])))))

    def velocity(self, target: Values) -> Feature:
        """Return the twist ``J qd`` at the frame's origin in world axes, linear before angular."""
        twist = tuple(self._motion["velocity"])
        jacobian = [(*by_q, *by_qd) for by_q, by_qd in zip(self._motion["by_q"], self._motion["jacobian"])]
        return Feature(minus(twist, tuple(target)), jacobian, twist)

    @cached_property
    def _rotation(self) -> tuple[tuple[Real, ...], ...]:
        return tuple(tuple(row[:3]) for row in self._motion["transform"][:3])

    def _along_q(self, rows: Sequence[Values]) -> list[Values]:
        return [(*row, *self._rest) for row in rows]


def cost_frame(k: KernelBuilder, number: int) -> Values:
    """Return the numbers of a cost frame of the build."""
    return frame_numbers(k.settings.cost_targets(k.model)[number])


def read_frame(robot: RobotView, given: Mapping[str, Any]) -> list[float] | None:
    """Return the numbers of the frame that a cost follows; nothing for the first end effector, whose kernel does less.

    Raises
    ------
    ArgumentError
        There is no such frame.
    """
    if given["frame"] is None:
        return None
    frame = frame_of(robot, given["frame"], "frame")
    return None if frame is robot.settings.cost_targets(robot.model)[0] else frame_numbers(frame)
