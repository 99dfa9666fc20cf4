"""Families of methods on one GPU beside grid-rbd 0.6.0: device time of calls on device arrays, both in one run.

``python -m benchmarks second-order-gpu mechanics-gpu stepping-gpu`` needs a GPU, nvcc, PyTorch and the peer; what is
missing is said. Each section takes minutes, since both sides compile; ``--robots iiwa14,go2`` leaves some out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import geometric_mean

import grid_rbd
from benchmarks.against_peer import cells
from benchmarks.calls import Call, Times, device_call_times
from benchmarks.gpu import missing
from benchmarks.peers.grid_rbd_060 import Build, Peer, PeerError, Request, request
from benchmarks.report import Bar, Measurement
from benchmarks.robots import G1, GO2, IIWA14, Robot
from grid_backends.numpy import RobotHandle
from grid_core.plugins.manager import load_catalogue

BATCHES = (16, 64, 256, 1024, 4096)
PATIENCE = 420.0
"""Seconds from the start of a section after which a robot of the peer that is still compiling is given up."""


@dataclass(frozen=True)
class Family:
    """A section: calls that are made on every robot.

    Parameters
    ----------
    name : str
        Part of the names of its measurements.
    calls, robots : tuple
    mean, least : float
        Bounds of the geometric mean of all ratios, and of each.
    whole : bool
        Whether the robots are those that the bounds are about.
    """

    name: str
    calls: tuple[Call, ...]
    robots: tuple[Robot, ...]
    mean: float
    least: float = 1.0
    whole: bool = True

    @property
    def BARS(self) -> list[Bar]:
        return [
            Bar(f"gpu.{self.name}.speedup.geometric_mean", self.mean, upwards=True),
            Bar(f"gpu.{self.name}.speedup.smallest", self.least, upwards=True),
            Bar(f"gpu.{self.name}.refused", 1),
        ]

    def on(self, names: Iterable[str]) -> Family:
        """Return the section with some of its robots, which gives no figures over all."""
        chosen = tuple(robot for robot in self.robots if robot.name in set(names))
        return replace(self, robots=chosen, whole=self.whole and chosen == self.robots)

    def measure(self, store: Path) -> Iterator[Measurement]:
        """Build both sides at once, and measure robot by robot."""
        if reason := missing() or Peer.missing():
            print(f"{self.name}: not measured: {reason}", file=sys.stderr)
            return
        deadline = time.monotonic() + PATIENCE
        peer = Peer(store.with_name("peer"))
        requests = [request(f"{r.name}_{self.name}", r, self.calls, BATCHES) for r in self.robots]
        ratios: dict[str, list[float]] = {robot.name: [] for robot in self.robots}
        refused = 0
        with peer.builds(requests) as builds:
            handles = [self._handle(robot, store.with_name("gpu")) for robot in self.robots]
            for robot, handle, asked in zip(self.robots, handles, requests):
                own = device_call_times(handle, self.calls, BATCHES, robot.floating)
                theirs = _peer_times(peer, asked, builds[asked["name"]], deadline)
                refused += len(own.refused)
                for measurement in cells(f"gpu.{robot.name}", "device", own, theirs):
                    yield measurement
                    if measurement.metric == "speedup":
                        ratios[robot.name].append(measurement.value)
        yield from self.summary(ratios)
        yield Measurement(f"gpu.{self.name}", "refused", refused)

    def _handle(self, robot: Robot, store: Path) -> RobotHandle:
        name = f"{robot.name}_{self.name}"
        algorithms = [_algorithm(call) for call in self.calls]
        return grid_rbd.register_robot(
            name, robot.path, cache_dir=store / name, device="cuda", algorithm_list=algorithms, **robot.options
        )

    def summary(self, ratios: dict[str, list[float]]) -> Iterator[Measurement]:
        """Yield means and least ratios of each robot, and of all if none is missing."""
        for robot, values in ratios.items():
            if values:
                yield Measurement(f"gpu.{self.name}.{robot}.speedup", "geometric_mean", geometric_mean(values))
                yield Measurement(f"gpu.{self.name}.{robot}.speedup", "smallest", min(values))
        if self.whole and all(ratios.values()):
            values = [value for of_robot in ratios.values() for value in of_robot]
            yield Measurement(f"gpu.{self.name}.speedup", "geometric_mean", geometric_mean(values))
            yield Measurement(f"gpu.{self.name}.speedup", "smallest", min(values))


def _algorithm(call: Call) -> str:
    """Return the algorithm that a call evaluates, by the choice that its keywords make."""
    choice = load_catalogue().algorithms[call.method].choice
    return call.method if choice is None else choice.algorithms[call.keywords.get(choice.name, choice.default)]


def _peer_times(peer: Peer, asked: Request, build: Build, deadline: float) -> Times:
    """Return what the peer takes; nothing if it is not there in time, which is said."""
    try:
        build.seconds(max(0.0, deadline - time.monotonic()))
        return peer.device_times(asked)
    except PeerError as error:
        print(f"gpu: {asked['name']}: no ratios: {error}", file=sys.stderr)
        return Times()


def _on(arguments: str, *methods: str) -> tuple[Call, ...]:
    return tuple(Call(method, arguments.split()) for method in methods)


ROBOTS = (IIWA14, GO2, G1)

SECOND_ORDER = Family("second_order", _on("q qd u", "idsva_so", "fdsva_so"), ROBOTS, mean=5, least=1.5)

CHOSEN = {"target_jid": 3, "reference_frame": "LOCAL"}
"""A frame that only the call says; for the default frame there are kernels of their own."""

MECHANICS = Family(
    "mechanics",
    (
        *_on("q", "end_effector_pose", "end_effector_pose_gradient", "end_effector_pose_hessian"),
        *_on("q", "end_effector_pose_runtime", "end_effector_pose_gradient_runtime"),
        *_on("q", "frame_jacobian", "osc_inertia", "com", "dccrba", "potential_energy_regressor"),
        *_on("q qd", "frame_jacobian_dot", "ccrba", "cmm_time_variation", "energy", "kinetic_energy_regressor"),
        *_on("q qd u", "inverse_dynamics_regressor", "forward_dynamics_parameter_gradient"),
        Call("frame_jacobian", ("q",), CHOSEN),
        Call("frame_jacobian_dot", ("q", "qd"), CHOSEN),
    ),
    ROBOTS,
    mean=4,
)
"""What the peer has no Python method on device arrays for is left out: ``fk_batched``, ``f_ext_gradient``,
``f_ext_gradient_dq`` and ``inverse_dynamics_regressor_gradient``."""

STEPPING = Family(
    "stepping",
    tuple(
        Call(method, ("q", "qd", "u", "dt"), {"integrator_type": scheme})
        for method in ("integrator", "integrator_gradient")
        for scheme in ("euler", "rk4")
    ),
    (IIWA14, GO2),
    mean=4,
)
