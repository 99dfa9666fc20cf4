"""Pinocchio as a second, unrelated source for the dynamics family.

The Pinocchio model is made joint by joint from ours, so that no description is parsed twice and every joint class can
be compared. Joints that follow others are independent there; results are reduced with ``v_full = T v``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from grid_core.model import Joint, Model

Array = NDArray[Any]
Sample = Mapping[str, Array]


def joint_model(joint: Joint) -> Any:
    axis = np.array(joint.axis, dtype=float)
    if joint.kind == "floating":
        return pin.JointModelFreeFlyer()
    if joint.kind == "spherical":
        return pin.JointModelSpherical()
    if joint.kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(axis)
    if joint.kind == "helical":
        return pin.JointModelHelicalUnaligned(axis, joint.pitch)
    return pin.JointModelRevoluteUnaligned(axis)


def build_model(model: Model) -> Any:
    """Return the same tree in Pinocchio, mimic joints independent."""
    other = pin.Model()
    for joint, body in zip(model.joints, model.bodies, strict=True):
        place = pin.SE3(np.array(joint.placement.rotation), np.array(joint.placement.translation))
        index = other.addJoint(joint.parent + 1, joint_model(joint), place, joint.name)
        centre = body.first_moment / body.mass if body.mass > 0 else np.zeros(3)
        cross = pin.skew(centre)
        other.appendBodyToJoint(
            index, pin.Inertia(body.mass, centre, body.inertia + body.mass * cross @ cross), pin.SE3.Identity()
        )
    return other


class PinocchioOracle:
    """The algorithms of the dynamics family by name: ``oracle(name, q=..., qd=...)`` for batches, leading axis B."""

    def __init__(self, model: Model) -> None:
        self.ours = model
        self.model = build_model(model)
        self.data = self.model.createData()
        self.mimics = any(joint.mimic for joint in model.joints)
        self.reduction = np.zeros((self.model.nv, model.nv))
        self._gain, self._offset = np.zeros((self.model.nq, model.nq)), np.zeros(self.model.nq)
        for joint, there in zip(model.joints, list(self.model.joints)[1:], strict=True):
            for k in range(joint.nv):
                self.reduction[there.idx_v + k, joint.v_index + k] = joint.multiplier
            for k in range(joint.nq):
                self._gain[there.idx_q + k, joint.q_index + k] = joint.multiplier
                self._offset[there.idx_q + k] = joint.offset

    def __call__(self, name: str, **inputs: Array) -> Array:
        """Evaluate an algorithm; ``gravity`` is (B, 3), ``f_ext`` (B, 6 nb), both optional."""
        method = getattr(self, f"_{name}")
        samples = [{key: value[b] for key, value in inputs.items()} for b in range(len(inputs["q"]))]
        return np.array([self._with_gravity(method, sample) for sample in samples])

    def condition(self, q: Array) -> float:
        """Return the largest condition number of the mass matrix over a batch."""
        return float(np.max(np.linalg.cond(self("crba", q=q))))

    def _with_gravity(self, method: Any, sample: Sample) -> Array:
        self.model.gravity.linear = sample.get("gravity", np.array([0.0, 0.0, -9.81]))
        return np.array(method(sample))

    def _q(self, s: Sample) -> Any:
        return self._gain @ s["q"] + self._offset

    def _full(self, s: Sample, name: str) -> Any:
        return self.reduction @ s.get(name, np.zeros(self.ours.nv))

    def _wrenches(self, s: Sample) -> Any:
        table = s.get("f_ext", np.zeros(6 * self.ours.nb)).reshape(-1, 6)
        forces = pin.StdVec_Force()
        forces.append(pin.Force.Zero())
        for moment_force in table:
            forces.append(pin.Force(moment_force[3:], moment_force[:3]))
        return forces

    def _square(self, full: Array) -> Any:
        return self.reduction.T @ full @ self.reduction

    def _inverse_dynamics(self, s: Sample) -> Any:
        motion = (self._q(s), self._full(s, "qd"), self._full(s, "qdd"))
        return self.reduction.T @ pin.rnea(self.model, self.data, *motion, self._wrenches(s))

    def _nonlinear_effects(self, s: Sample) -> Any:
        return self.reduction.T @ pin.nonLinearEffects(self.model, self.data, self._q(s), self._full(s, "qd"))

    def _generalized_gravity(self, s: Sample) -> Any:
        return self.reduction.T @ pin.computeGeneralizedGravity(self.model, self.data, self._q(s))

    def _crba(self, s: Sample) -> Any:
        upper = np.triu(pin.crba(self.model, self.data, self._q(s)))
        return self._square(upper + np.triu(upper, 1).T)

    def _minv(self, s: Sample) -> Any:
        return np.linalg.inv(self._crba(s))

    def _forward_dynamics(self, s: Sample) -> Any:
        if self.mimics:
            bias = self._inverse_dynamics({key: value for key, value in s.items() if key != "qdd"})
            return np.linalg.solve(self._crba(s), s["u"] - bias)
        return pin.aba(self.model, self.data, self._q(s), s["qd"], s["u"], self._wrenches(s))

    _aba = _forward_dynamics

    def _coriolis_matrix(self, s: Sample) -> Any:
        return self._square(pin.computeCoriolisMatrix(self.model, self.data, self._q(s), self._full(s, "qd")))

    def _inverse_dynamics_gradient(self, s: Sample) -> Any:
        motion = (self._q(s), self._full(s, "qd"), self._full(s, "qdd"))
        dq, dv, _ = pin.computeRNEADerivatives(self.model, self.data, *motion, self._wrenches(s))
        return np.hstack([self._square(dq), self._square(dv)])

    def _forward_dynamics_gradient(self, s: Sample) -> Any:
        at = dict(s) | {"qdd": self._forward_dynamics(s)}
        return -np.linalg.solve(self._crba(s), self._inverse_dynamics_gradient(at))

    def _direct_minv(self, s: Sample) -> Any:
        """Recursive, without a mass matrix; loses digits where a floating joint inside the tree is far out."""
        upper = np.triu(pin.computeMinverse(self.model, self.data, self._q(s)))
        return upper + np.triu(upper, 1).T

    def _direct_forward_dynamics_gradient(self, s: Sample) -> Any:
        dq, dv, _ = pin.computeABADerivatives(self.model, self.data, self._q(s), s["qd"], s["u"], self._wrenches(s))
        return np.hstack([dq, dv])
