"""Pinocchio's C++ library as its wheel ships it, driven by programs of ours that answer requests one by one."""

from __future__ import annotations

import hashlib
import importlib.metadata
import subprocess
from pathlib import Path
from types import TracebackType

from benchmarks.robots import PREFIX, Robot

SOURCES = Path(__file__).parent
SHARED = SOURCES / "pinocchio_driver.hpp"
DYNAMICS, MECHANICS = "pinocchio_bench", "pinocchio_mechanics"
"""The programs: dynamics and their first derivatives, and everything else."""
BUILD = Path(__file__).parents[1] / "build"
FLAGS = (
    "-O3", "-DNDEBUG", "-std=c++17",
    # As the wheel was built; boost's variants of joints need room for all of them.
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
)  # fmt: skip
INCLUDES = ("include", "include/urdfdom", "include/urdfdom_headers", "include/eigen3")
LIBRARIES = ("pinocchio_default", "pinocchio_parsers", "urdfdom_model")
ALGORITHMS = {
    "inverse_dynamics": "inverse_dynamics",
    "forward_dynamics": "aba",
    "aba": "aba",
    "crba": "crba",
    "minv": "minv",
    "nonlinear_effects": "nonlinear_effects",
    "generalized_gravity": "generalized_gravity",
    "coriolis_matrix": "coriolis_matrix",
    "inverse_dynamics_gradient": "inverse_dynamics_gradient",
    "forward_dynamics_gradient": "forward_dynamics_gradient",
}
"""Ours -> what the driver calls. Pinocchio's forward dynamics is its ABA."""


def build_driver(name: str) -> Path:
    """Compile one of the programs unless the same one exists (about two minutes and 3.5 GB of memory).

    No ``-march``: the wheel's library has Eigen's default alignment, and a pip user gets that library.
    """
    source = (SOURCES / name).with_suffix(".cpp")
    what = (
        source.read_text("utf-8"),
        SHARED.read_text("utf-8"),
        *FLAGS,
        importlib.metadata.version("libpinocchio"),
        str(PREFIX),
    )
    program = BUILD / f"{name}-{hashlib.sha256(repr(what).encode()).hexdigest()[:16]}"
    if not program.exists():
        BUILD.mkdir(exist_ok=True)
        staged = program.with_suffix(".tmp")
        includes = [f"-I{PREFIX / folder}" for folder in INCLUDES]
        links = [f"-L{PREFIX}/lib", f"-Wl,-rpath,{PREFIX}/lib", *(f"-l{name}" for name in LIBRARIES)]
        subprocess.run(["g++", *FLAGS, *includes, source, "-o", staged, *links], check=True)
        staged.rename(program)
    return program


class Pinocchio:
    """One of the programs, running for one robot."""

    def __init__(self, robot: Robot, batch: int, program: str = DYNAMICS) -> None:
        command: list[str | Path] = [
            build_driver(program),
            robot.path,
            str(batch),
            *(["floating"] if robot.floating else []),
        ]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1)
        self.version, nq, nv = self._answer().split()
        self.nq, self.nv = int(nq), int(nv)

    def nanoseconds(self, name: str, passes: int = 1) -> float:
        """Return the mean time per sample of passes over the batch of what the program has by that name."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{name} {passes}\n")
        return float(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line: str = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the Pinocchio driver ended; run it by hand to see why")
        return line

    def __enter__(self) -> Pinocchio:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
