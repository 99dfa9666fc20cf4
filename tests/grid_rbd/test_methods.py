"""The methods of a handle take the arguments that the documented interface has."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import grid_rbd
from tests.oracle.robots import GOLDEN

DOCUMENTED = (
    "inverse_dynamics: q, qd, qdd=None, *, gravity=-9.81, f_ext=None",
    "minv: q",
    "forward_dynamics: q, qd, u, *, gravity=-9.81, f_ext=None",
    "aba: q, qd, u, *, gravity=-9.81, f_ext=None",
    "crba: q, *, gravity=-9.81",
    "generalized_gravity: q, *, gravity=-9.81",
    "nonlinear_effects: q, qd, *, gravity=-9.81",
    "coriolis_matrix: q, qd, *, gravity=-9.81",
    "inverse_dynamics_gradient: q, qd, qdd=None, *, gravity=-9.81, f_ext=None, out=None",
    "forward_dynamics_gradient: q, qd, u, *, gravity=-9.81, f_ext=None, out=None",
    "idsva_so: q, qd, qdd=None, *, gravity=-9.81, out=None",
    "fdsva_so: q, qd, u, *, gravity=-9.81, out=None",
    "end_effector_pose: q",
    "end_effector_pose_gradient: q",
    "end_effector_pose_hessian: q",
    "end_effector_pose_runtime: q, ee_joint_names=None, ee_offsets=None",
    "end_effector_pose_gradient_runtime: q, ee_joint_names=None, ee_offsets=None",
    "fk_batched: q, *, use_warp=False",
    "frame_jacobian: q, *, target_jid=None, reference_frame=None",
    "frame_jacobian_dot: q, qd, *, target_jid=None, reference_frame=None",
    "osc_inertia: q",
    "com: q",
    "ccrba: q, qd",
    "dccrba: q",
    "cmm_time_variation: q, qd",
    "energy: q, qd, *, gravity=-9.81",
    "kinetic_energy_regressor: q, qd, *, gravity=-9.81",
    "potential_energy_regressor: q, *, gravity=-9.81",
    "inverse_dynamics_regressor: q, qd, qdd=None, *, gravity=-9.81",
    "integrator: q, qd, u, dt, *, integrator_type='euler', gravity=-9.81",
    "integrator_gradient: q, qd, u, dt, *, integrator_type='euler', gravity=-9.81",
    "plant_step: x, u, dt, *, integrator_type='euler', gravity=-9.81",
    "plant_step_gradient: x, u, dt, *, integrator_type='euler', gravity=-9.81",
    "plant_step_hessian: x, u, dt, *, integrator_type='euler', gravity=-9.81",
    "quadratic_state_cost: x, x_des, Q",
    "quadratic_input_cost: u, u_des, R",
    "ee_pos_cost: q, p_des, W",
    "com_cost: q, p_des, W",
    "momentum_cost: q, qd, h_des, W",
    "joint_position_barrier: var, lower, upper, mu",
    "joint_velocity_barrier: var, lower, upper, mu",
    "joint_torque_barrier: var, lower, upper, mu",
    "tool_fext: q, wrench, *, joint=None, offset=None",
    "contact_fext: q, f_c",
    "attach_tool: joint, *, mass, com=(0.0, 0.0, 0.0), inertia=None, tip_transform=None",
    "detach_tool: ",
    "set_inertia_params: params",
    "set_transform_params: params",
    "set_joint_dynamics: damping=None, friction=None, friction_width=None",
    "context: *, workspace_slots=0",
    "capabilities: ",
    "close: ",
)


@pytest.fixture(scope="module")
def handle() -> Any:
    options = dict.fromkeys(("runtime_inertia", "runtime_transform", "runtime_joint_dynamics", "enable_tool"), True)
    return grid_rbd.load_robot(GOLDEN["iiwa14"].urdf, device="reference", contact_frames=["iiwa_joint_7"], **options)


@pytest.mark.parametrize("documented", DOCUMENTED)
def test_arguments(documented: str, handle: Any) -> None:
    name, _, arguments = documented.partition(": ")
    expected = inspect.signature(eval(f"lambda {arguments}: None")).parameters
    taken = inspect.signature(getattr(handle, name)).parameters
    for argument, parameter in expected.items():
        assert (taken[argument].kind, taken[argument].default) == (parameter.kind, parameter.default), argument
    positional = [argument for argument, p in expected.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert list(taken)[: len(positional)] == positional


@pytest.mark.parametrize("name", ["crba", "coriolis_matrix", "kinetic_energy_regressor"])
def test_gravity_that_has_no_influence(name: str, handle: Any) -> None:
    arguments = (handle.random(1, 3), np.ones((3, handle.nv)))[: 1 if name == "crba" else 2]
    method = getattr(handle, name)
    np.testing.assert_array_equal(method(*arguments, gravity=[1.0, 2.0, 3.0]), method(*arguments))
