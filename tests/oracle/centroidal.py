"""Pinocchio as a second source for the centroidal family: outputs by the name ``algorithm.output``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from tests.oracle.pinocchio import PinocchioOracle, Sample

ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
"""Our inertial parameters in Pinocchio's, which has Iyy before Ixz."""
WRENCH = [3, 4, 5, 0, 1, 2]
"""Moment before force."""


class CentroidalOracle(PinocchioOracle):
    """The family by output: ``oracle("ccrba.matrix", q=...)``."""

    def __call__(self, name: str, **inputs: Any) -> Any:
        return super().__call__(name.replace(".", "__"), **inputs)

    def _directions(self) -> Any:
        """Return the velocity of Pinocchio's model for a unit rate of each of our coordinates."""
        return self.reduction.T

    def _reduced(self, columns: Any) -> Any:
        """Return columns for our coordinates; Pinocchio returns a single one as a vector."""
        return np.reshape(columns, (-1, self.model.nv)) @ self.reduction

    def _parameters(self, columns: Any) -> Any:
        """Return the columns of a regressor, ten per body, in our order."""
        blocks = np.reshape(columns, (*np.shape(columns)[:-1], self.ours.nb, 10))
        return blocks[..., ORDER].reshape(*np.shape(columns)[:-1], 10 * self.ours.nb)

    def _com__position(self, s: Sample) -> Any:
        return pin.centerOfMass(self.model, self.data, self._q(s)).copy()

    def _com__jacobian(self, s: Sample) -> Any:
        return self._reduced(pin.jacobianCenterOfMass(self.model, self.data, self._q(s)))

    def _ccrba__matrix(self, s: Sample) -> Any:
        return self._reduced(pin.computeCentroidalMap(self.model, self.data, self._q(s)))

    def _ccrba__momentum(self, s: Sample) -> Any:
        pin.ccrba(self.model, self.data, self._q(s), self._full(s, "qd"))
        return np.array(self.data.hg)

    def _rate(self, s: Sample, v: Any) -> Any:
        return self._reduced(pin.dccrba(self.model, self.data, self._q(s), v))

    def _cmm_time_variation__rate(self, s: Sample) -> Any:
        return self._rate(s, self._full(s, "qd"))

    def _dccrba__gradient(self, s: Sample) -> Any:
        return np.stack([self._rate(s, v).copy() for v in self._directions()], axis=-1)

    def _energy__energy(self, s: Sample) -> Any:
        kinetic = pin.computeKineticEnergy(self.model, self.data, self._q(s), self._full(s, "qd"))
        potential = pin.computePotentialEnergy(self.model, self.data, self._q(s))
        return np.array([kinetic, potential, kinetic + potential])

    def _kinetic_energy_regressor__regressor(self, s: Sample) -> Any:
        found = pin.computeKineticEnergyRegressor(self.model, self.data, self._q(s), self._full(s, "qd"))
        return self._parameters(found)

    def _potential_energy_regressor__regressor(self, s: Sample) -> Any:
        return self._parameters(pin.computePotentialEnergyRegressor(self.model, self.data, self._q(s)))

    def _inverse_dynamics_regressor__regressor(self, s: Sample) -> Any:
        motion = (self._q(s), self._full(s, "qd"), self._full(s, "qdd"))
        full = pin.computeJointTorqueRegressor(self.model, self.data, *motion)
        return self._parameters(self.reduction.T @ np.reshape(full, (self.model.nv, -1)))

    def _forward_dynamics_parameter_gradient__gradient(self, s: Sample) -> Any:
        at = dict(s) | {"qdd": self._forward_dynamics(s)}
        return -np.linalg.solve(self._crba(s), self._inverse_dynamics_regressor__regressor(at))

    def _f_ext_gradient__dtau(self, s: Sample) -> Any:
        pin.computeJointJacobians(self.model, self.data, self._q(s))
        local = [
            pin.getJointJacobian(self.model, self.data, b + 1, pin.ReferenceFrame.LOCAL) for b in range(self.ours.nb)
        ]
        return -np.hstack([self._reduced(jacobian)[WRENCH].T for jacobian in local])

    def _f_ext_gradient__dqdd(self, s: Sample) -> Any:
        return -np.linalg.solve(self._crba(s), self._f_ext_gradient__dtau(s))

    def _f_ext_gradient_dq__gradient(self, s: Sample) -> Any:
        found = np.zeros((self.ours.nv, 6 * self.ours.nb, self.ours.nv))
        for k, v in enumerate(self._directions()):
            pin.computeJointJacobiansTimeVariation(self.model, self.data, self._q(s), v)
            for b in range(self.ours.nb):
                rate = pin.getJointJacobianTimeVariation(self.model, self.data, b + 1, pin.ReferenceFrame.LOCAL)
                found[:, 6 * b : 6 * b + 6, k] = -self._reduced(rate)[WRENCH].T
        return found
