"""Costs of many problems over a horizon, and their gradients, in code that grid-rbd compiles for a robot.

>>> horizon = HorizonCost("arm.urdf", second_frame="elbow_link")
>>> found = horizon(x0, u, Task(ee_des=[0.4, 0.2, 0.5], W=[1, 1, 1]))      # x0 (P, nx), u (P, steps, nu)
>>> u -= 0.1 * found.gradient
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import grid_rbd

NATIVE = Path(__file__).parent / "native"
SCHEME = "semi_implicit_euler"
ALGORITHMS = ("inverse_dynamics", f"integrator_{SCHEME}", f"integrator_gradient_{SCHEME}", "tracking_cost_menu")
TERMS = 8


class Found(NamedTuple):
    """``cost`` (P,), ``gradient`` (P, steps, nu) along the controls, ``states`` (P, steps + 1, nx)."""

    cost: Any
    gradient: Any
    states: Any


@dataclass(frozen=True)
class Task:
    """What is wanted of every problem; what is left out costs nothing.

    The end effector is to be at ``ee_des`` (m, weights ``W``), the state at ``x_des`` (weights ``Q``), and the controls
    at those that hold the robot there (weights ``R``), at every step of ``dt`` seconds.
    """

    ee_des: Any = (0.0, 0.0, 0.0)
    W: Any = (0.0, 0.0, 0.0)
    x_des: Any = None
    Q: Any = 0.0
    R: Any = 0.0
    dt: float = 0.01
    gravity: float = -9.81

    def packed(self, nv: int, size: int, dtype: str) -> Any:
        """Return the parts one behind another, as ``horizon.hpp`` reads them."""
        x_des = np.zeros(2 * nv) if self.x_des is None else self.x_des
        weights = np.broadcast_to(self.Q, 2 * nv), np.broadcast_to(self.R, nv)
        parts = [
            [self.dt, 0.0, 0.0, self.gravity],
            self.ee_des,
            self.W,
            x_des,
            *weights,
            np.eye(3).ravel(),
            np.ones(TERMS),
        ]
        packed = np.zeros(size, dtype)
        known = np.concatenate(parts)
        packed[: len(known)] = known
        return packed


class HorizonCost:
    """The compiled code for one robot with a fixed base.

    Parameters
    ----------
    urdf_path : path
    second_frame : str
        Frame that the cost menu knows beside the end effector.
    dtype : str
        ``"float32"`` or ``"float64"``.
    cuda_arch : int, optional
        Compute capability of a GPU that evaluates, 90 for sm_90; default: the CPU does.
    cache_dir : path, optional
        Store of grid-rbd.
    """

    def __init__(
        self,
        urdf_path: Any,
        *,
        second_frame: str,
        dtype: str = "float64",
        cuda_arch: int | None = None,
        cache_dir: Any = None,
    ) -> None:
        self.artifact = grid_rbd.build_artifact(
            "grid-horizon",
            f"{Path(urdf_path).stem}-{dtype}-{'cpu' if cuda_arch is None else f'sm{cuda_arch}'}",
            urdf_path,
            sources=[NATIVE / ("horizon.cpp" if cuda_arch is None else "horizon.cu")],
            include_dirs=[NATIVE],
            link_flags=["-pthread"] if cuda_arch is None else [],
            algorithm_list=ALGORITHMS,
            cost_frames=[second_frame],
            dtype=dtype,
            cuda_arch=cuda_arch,
            cache_dir=cache_dir,
        )
        self._dtype = dtype
        self._nv = self.artifact.meta["robot"]["nv"]
        self._library = ctypes.CDLL(str(self.artifact.path))

    def __call__(self, x0: Any, u: Any, task: Task) -> Found:
        """Evaluate problems: states ``x0`` (P, nx), controls ``u`` (P, steps, nu)."""
        u = np.ascontiguousarray(u, self._dtype)
        problems, steps, _ = u.shape
        states = np.empty((problems, steps + 1, 2 * self._nv), self._dtype)
        states[:, 0] = x0
        cost, gradient = np.empty(problems, self._dtype), np.empty_like(u)
        wanted = task.packed(self._nv, self._library.horizon_task_size(), self._dtype)
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (wanted, u, states, cost, gradient))
        if error := self._library.horizon_cost(problems, steps, *pointers):
            raise RuntimeError(f"CUDA error {error}; is there a GPU of the architecture that the artifact is for?")
        return Found(cost, gradient, states)
