"""Units that another thread, process or machine builds: plain data goes there, a small record comes back."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, as_completed
from dataclasses import asdict, dataclass, replace
from typing import Any

from grid_core.build.builder import build_unit, check_options
from grid_core.build.compilers import Compiler, compiler_for
from grid_core.build.models import read_model, stored_model
from grid_core.build.plan import Plan, UnitPlan
from grid_core.build.request import RobotRequest
from grid_core.errors import ToolchainMismatchError
from grid_core.toolchains.toolchain import compiler_text
from grid_store import Key, Store, differences
from grid_store.tiers import configured_tiers


@dataclass(frozen=True)
class UnitJob:
    """One unit of a plan.

    Attributes
    ----------
    request : RobotRequest
    algorithm : str
    toolchain : mapping of str to str
        Identity of the compiler that the plan was made with.
    inputs : mapping of str to str
        Components of the unit's input key.
    store : str
        Root of the store that the unit goes to.
    """

    request: RobotRequest
    algorithm: str
    toolchain: Mapping[str, str]
    inputs: Mapping[str, str]
    store: str

    def to_json(self) -> dict[str, Any]:
        """Return the job as plain data, which any executor can carry."""
        return {
            "request": self.request.to_json(),
            "algorithm": self.algorithm,
            "toolchain": dict(self.toolchain),
            "inputs": dict(self.inputs),
            "store": self.store,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> UnitJob:
        request = RobotRequest.from_json(values["request"])
        return cls(request, values["algorithm"], values["toolchain"], values["inputs"], values["store"])


@dataclass(frozen=True)
class BuiltUnit:
    """What became of a job.

    Attributes
    ----------
    algorithm : str
    content_key : str
    compiled : bool
        Whether a compiler ran.
    seconds : float
        What the job took, waiting for others included.
    worker : str
        Host and process.
    """

    algorithm: str
    content_key: str
    compiled: bool
    seconds: float
    worker: str


def job_of(plan: Plan, unit: UnitPlan, store: Store) -> UnitJob:
    """Return the job that builds one unit of a plan into a store."""
    request = replace(plan.request, algorithms=(unit.algorithm,))
    return UnitJob(request, unit.algorithm, plan.compiler.identity(), unit.input_key.components, str(store.root))


def run_job(values: Mapping[str, Any]) -> dict[str, Any]:
    """Build the unit of a job that was given as plain data, and return a :class:`BuiltUnit` as plain data.

    Raises
    ------
    ToolchainMismatchError
        This worker has another compiler, version of the project or plugin than the one that planned.
    StoreUnavailableError
        The store cannot be written from here.
    CompileError
        The compiler failed.
    """
    began, job = time.perf_counter(), UnitJob.from_json(values)
    store = Store(job.store, strict=True, tiers=configured_tiers())
    compiler = compiler_for(job.request, store)
    key = _planned_key(job, compiler)
    model = read_model(stored_model(job.request, store))
    check_options(job.request, model)
    entry, compiled = build_unit(job.request, compiler, job.algorithm, key, model, store)
    return asdict(BuiltUnit(job.algorithm, entry.key, compiled, round(time.perf_counter() - began, 3), worker_name()))


def distribute(jobs: Iterable[UnitJob], executor: Executor, on_done: Callable[[BuiltUnit], None]) -> None:
    """Let an executor run jobs; ``on_done`` hears of each. The first failure cancels what has not started.

    Raises
    ------
    Exception
        As :func:`run_job`, or what the executor raises.
    """
    futures = [executor.submit(run_job, job.to_json()) for job in jobs]
    try:
        for future in as_completed(futures):
            on_done(BuiltUnit(**future.result()))
    finally:
        for future in futures:
            future.cancel()


def worker_name() -> str:
    """Return host and process."""
    return f"{platform.node()}:{os.getpid()}"


def _planned_key(job: UnitJob, compiler: Compiler) -> Key:
    """Return the key of the unit here, if it is the planned one."""
    identity = compiler.identity()
    if identity != dict(job.toolchain):
        raise ToolchainMismatchError(
            f"worker {worker_name()} compiles with {compiler_text(identity)}, and the plan was made with "
            f"{compiler_text(job.toolchain)}; install the same compiler there, or plan where the workers are"
        )
    key = job.request.unit_key(job.algorithm, identity)
    if changed := [difference.name for difference in differences(job.inputs, key)]:
        raise ToolchainMismatchError(
            f"worker {worker_name()} would build another {job.algorithm} than planned ({', '.join(changed)} differ); "
            "install the same version of grid-rbd and of every plugin there, or plan where the workers are"
        )
    return key
