"""Mechanics beyond dynamics on one thread, side by side with Pinocchio: a row of :data:`OPERATIONS` each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import grid_rbd
from benchmarks.peers.pinocchio import MECHANICS, Pinocchio
from benchmarks.report import Bar, Measurement
from benchmarks.robots import G1, GO2, IIWA14, Robot
from benchmarks.timing import Contestant, median_ratio, on_processors, race, ratio, repeated
from grid_backends.numpy import RobotHandle
from grid_core.model import load_model
from grid_core.plugins.manager import load_catalogue
from grid_rbd.samples import sample_arguments

BATCH = 256
ROUNDS = 20
SECONDS = 0.01
DTYPES = ("float64", "float32")
ROBOTS = (IIWA14, GO2, G1)


@dataclass(frozen=True)
class Operation:
    """An algorithm and what Pinocchio has for it.

    Parameters
    ----------
    algorithm : str
    peer : str
        Its name in ``pinocchio_mechanics.cpp``.
    arguments : mapping
        Arguments besides the random ones that the algorithm has to have.
    """

    algorithm: str
    peer: str
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The algorithm with the arguments that it is given, as measurements are called."""
        return ".".join([self.algorithm, *map(str, self.arguments.values())])


OPERATIONS = (
    Operation("com", "center_of_mass"),
    Operation("ccrba", "centroidal_map"),
    Operation("cmm_time_variation", "centroidal_map_rate"),
    Operation("energy", "energy"),
    Operation("inverse_dynamics_regressor", "torque_regressor"),
    Operation("kinetic_energy_regressor", "kinetic_energy_regressor"),
    Operation("potential_energy_regressor", "potential_energy_regressor"),
    Operation("end_effector_pose", "poses"),
    Operation("end_effector_pose_gradient", "pose_gradients"),
    Operation("end_effector_pose_hessian", "pose_hessians"),
    Operation("fk_batched", "first_pose_quaternion"),
    Operation("end_effector_placement", "pose_quaternions"),
    Operation("end_effector_jacobian", "jacobians"),
    Operation("end_effector_log_pose", "pose_logarithms"),
    Operation("end_effector_log_pose_gradient", "pose_logarithm_gradients"),
    Operation("frame_placements", "frame_quaternions"),
    Operation("frame_transforms", "frames"),
    Operation("end_effector_pose_runtime", "poses"),
    Operation("end_effector_pose_gradient_runtime", "pose_gradients"),
    Operation("frame_jacobian", "frame_jacobian"),
    Operation("frame_jacobian", "frame_jacobian_local", {"reference_frame": "LOCAL"}),
    Operation("frame_jacobian_dot", "frame_jacobian_rate"),
    Operation("osc_inertia", "operational_inertia"),
    Operation("contact_fext", "wrenches"),
    Operation("tool_fext", "tool_wrench"),
    Operation("idsva_so", "second_derivatives"),
)

BARS = [
    Bar(f"mechanics.{dtype}.{metric}", bound, upwards=True)
    for dtype, mean in zip(DTYPES, (12, 20))
    for metric, bound in (("speedup_mean", mean), ("speedup_least", 5))
]
BARS += [Bar(f"g1.idsva_so.{dtype}.speedup", 6, upwards=True) for dtype in DTYPES]


def measure(store: Path) -> Iterator[Measurement]:
    """Measure every operation on every robot and in both float types, then what they give together."""
    ratios: dict[str, list[float]] = {dtype: [] for dtype in DTYPES}
    for robot in ROBOTS:
        names = [operation.algorithm for operation in OPERATIONS]
        handles = {dtype: _handle(robot, dtype, store, names) for dtype in DTYPES}
        with on_processors(1), Pinocchio(robot, BATCH, MECHANICS) as peer:
            assert (peer.nq, peer.nv) == (handles["float64"].nq, handles["float64"].nv)
            for operation in OPERATIONS:
                for measurement in _against_peer(robot, operation, handles, peer):
                    yield measurement
                    if measurement.metric == "speedup":
                        ratios[measurement.name.rpartition(".")[2]].append(measurement.value)
    for dtype, values in ratios.items():
        yield Measurement(f"mechanics.{dtype}", "speedup_mean", geometric_mean(values))
        yield Measurement(f"mechanics.{dtype}", "speedup_least", min(values))


def _handle(robot: Robot, dtype: str, store: Path, names: list[str]) -> RobotHandle:
    model = load_model(robot.path, **robot.options)
    contacts = [model.joints[i].name for i in model.leaf_joints]
    options = {"algorithm_list": names, "contact_frames": contacts, **robot.options}
    return grid_rbd.load_robot(robot.path, dtype=dtype, cache_dir=store, threads=1, **options)


def _call(handle: RobotHandle, operation: Operation) -> Callable[[], object]:
    """Return a call with results written to existing memory."""
    declared = load_catalogue().algorithms[operation.algorithm]
    arguments = sample_arguments(declared, handle, BATCH) | operation.arguments
    method = getattr(handle, operation.algorithm)
    out = method(**arguments)
    return lambda: method(**arguments, out=out)


def _against_peer(
    robot: Robot, operation: Operation, handles: dict[str, RobotHandle], peer: Pinocchio
) -> Iterator[Measurement]:
    contestants: dict[str, Contestant] = {"pinocchio": lambda: peer.nanoseconds(operation.peer, 4)}
    for dtype, handle in handles.items():
        turn = repeated(_call(handle, operation), SECONDS)
        contestants[dtype] = lambda turn=turn: turn() / BATCH * 1e9  # type: ignore[misc]
    times = race(contestants, ROUNDS)
    name = f"{robot.name}.{operation.name}"
    yield Measurement(f"{name}.pinocchio", "ns_per_sample", min(times["pinocchio"]))
    for dtype in handles:
        yield Measurement(f"{name}.{dtype}", "ns_per_sample", min(times[dtype]))
        yield Measurement(f"{name}.{dtype}", "speedup", ratio(times, "pinocchio", dtype))
        yield Measurement(f"{name}.{dtype}", "speedup_median", median_ratio(times, "pinocchio", dtype))
