"""Pinocchio as a second source for the kinematics family: frames, their Jacobians and the rates of these."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from grid_core.kernel.settings import TraceSettings
from grid_core.model import Frame, Model
from tests.oracle.evaluation import Array
from tests.oracle.pinocchio import PinocchioOracle, Sample

ALIGNED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


class KinematicsOracle(PinocchioOracle):
    """The family by name, as :class:`PinocchioOracle`, and single frames by :meth:`jacobian` and its like."""

    def __init__(self, model: Model, settings: TraceSettings | None = None) -> None:
        super().__init__(model)
        settings = settings or TraceSettings()
        self.ends = settings.end_effector_frames(model)
        self.contacts = settings.contacts(model)

    # -- one frame at one sample --------------------------------------------------------------------------------------

    def frame_id(self, frame: Frame, offset: Array | None = None) -> Any:
        """Return the index of a frame, at an offset (4x4), in Pinocchio's model; it is added when it is asked for."""
        place = pin.SE3(np.array(frame.placement.rotation), np.array(frame.placement.translation))
        place = place if offset is None else place * pin.SE3(np.array(offset))
        name = f"{frame.kind} {frame.name} {place}"
        if not self.model.existFrame(name):
            self.model.addFrame(pin.Frame(name, frame.body + 1, place, pin.FrameType.OP_FRAME))
            self.data = self.model.createData()
        return self.model.getFrameId(name)

    def placement(self, s: Sample, frame: Frame, offset: Array | None = None) -> Any:
        index = self.frame_id(frame, offset)
        pin.framesForwardKinematics(self.model, self.data, self._q(s))
        return self.data.oMf[index].copy()

    def jacobian(self, s: Sample, frame: Frame, reference: Any = ALIGNED, offset: Array | None = None) -> Any:
        index = self.frame_id(frame, offset)
        return pin.computeFrameJacobian(self.model, self.data, self._q(s), index, reference) @ self.reduction

    def rate(self, s: Sample, frame: Frame, reference: Any = ALIGNED) -> Any:
        index = self.frame_id(frame)
        pin.computeJointJacobiansTimeVariation(self.model, self.data, self._q(s), self._full(s, "qd"))
        pin.updateFramePlacements(self.model, self.data)
        return pin.getFrameJacobianTimeVariation(self.model, self.data, index, reference) @ self.reduction

    def pose(self, s: Sample, frame: Frame, offset: Array | None = None) -> Any:
        place = self.placement(s, frame, offset)
        return np.concatenate([place.translation, pin.rpy.matrixToRpy(place.rotation)])

    def gradient(self, s: Sample, frame: Frame, offset: Array | None = None) -> Any:
        place, moves = self.placement(s, frame, offset), self.jacobian(s, frame, offset=offset)
        rates = pin.rpy.computeRpyJacobianInverse(pin.rpy.matrixToRpy(place.rotation), ALIGNED)
        return np.vstack([moves[:3], rates @ moves[3:]])

    # -- algorithms by name -------------------------------------------------------------------------------------------

    def _end_effector_pose(self, s: Sample) -> Any:
        return np.concatenate([self.pose(s, frame) for frame in self.ends])

    def _end_effector_pose_gradient(self, s: Sample) -> Any:
        return np.vstack([self.gradient(s, frame) for frame in self.ends])

    def _end_effector_placement(self, s: Sample) -> Any:
        return np.array([xyz_quaternion(self.placement(s, frame)) for frame in self.ends])

    def _end_effector_jacobian(self, s: Sample) -> Any:
        return np.array([self.jacobian(s, frame) for frame in self.ends])

    def _end_effector_log_pose(self, s: Sample) -> Any:
        places = [self.placement(s, frame) for frame in self.ends]
        return np.array([np.concatenate([place.translation, pin.log3(place.rotation)]) for place in places])

    def _end_effector_log_pose_gradient(self, s: Sample) -> Any:
        found = []
        for frame in self.ends:
            vector, moves = pin.log3(self.placement(s, frame).rotation), self.jacobian(s, frame)
            found.append(np.vstack([moves[:3], np.linalg.solve(left_jacobian(vector), moves[3:])]))
        return np.array(found)

    def _fk_batched(self, s: Sample) -> Any:
        return xyz_quaternion(self.placement(s, self.ends[0]))[[0, 1, 2, 6, 3, 4, 5]]

    def _frame_placements(self, s: Sample) -> Any:
        return np.array([xyz_quaternion(self.placement(s, frame)) for frame in self.ours.frames])

    def _frame_transforms(self, s: Sample) -> Any:
        return np.array([self.placement(s, frame).homogeneous for frame in self.ours.frames])

    def _frame_jacobian(self, s: Sample) -> Any:
        return self.jacobian(s, self.ends[0])

    def _frame_jacobian_dot(self, s: Sample) -> Any:
        return self.rate(s, self.ends[0])

    def _osc_inertia(self, s: Sample) -> Any:
        moves = self.jacobian(s, self.ends[0])
        return np.linalg.inv(moves @ np.linalg.solve(self._crba(s), moves.T) + float(s["damping"]) * np.eye(6))

    def _contact_fext(self, s: Sample) -> Any:
        return sum(self.body_wrench(s, frame, w) for frame, w in zip(self.contacts, s["f_c"].reshape(-1, 6)))

    def body_wrench(self, s: Sample, frame: Frame, wrench: Array) -> Any:
        """Return ``[n; f]`` at a frame in world axes as ``f_ext``."""
        place = self.placement(s, frame)
        aligned = pin.SE3(np.array(place.rotation).T, np.zeros(3))
        local = aligned.act(pin.Force(wrench[3:], wrench[:3]))
        own = pin.SE3(np.array(frame.placement.rotation), np.array(frame.placement.translation)).act(local)
        table = np.zeros((self.ours.nb, 6))
        table[frame.body] = np.concatenate([own.angular, own.linear])
        return table.ravel()


def left_jacobian(phi: Array) -> Array:
    """Return the left Jacobian of SO(3) by its series; Pinocchio's inverse is off by 1e-9 at small angles."""
    term, total = np.eye(3), np.eye(3)
    for n in range(2, 60):
        term = term @ pin.skew(phi) / n
        total = total + term
    return total


def xyz_quaternion(place: Any) -> Array:
    """Return position and quaternion xyzw with ``w >= 0``."""
    quaternion = pin.Quaternion(place.rotation).coeffs()
    return np.concatenate([place.translation, quaternion if quaternion[3] >= 0.0 else -quaternion])
