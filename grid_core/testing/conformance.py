"""The conformance suite: every rule that bundled algorithms keep, for the algorithms of any plugin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from unittest import SkipTest

from grid_core.plugins.algorithm import Algorithm
from grid_core.plugins.manager import ANY
from grid_core.testing.bench import Bench
from grid_core.testing.calls import check_batches, check_single_precision, check_values
from grid_core.testing.derivatives import check_derivatives
from grid_core.testing.documentation import check_documentation
from grid_core.testing.frameworks import check_jax, check_torch
from grid_core.testing.inspection import Finding, failure
from grid_core.testing.robots import ROBOTS, SampleRobot
from grid_core.testing.sources import check_cuda, check_header
from grid_core.testing.subject import Tested, subject_of

CHECKS: Mapping[str, Callable[[Bench], None]] = {
    "documentation": check_documentation,
    "values": check_values,
    "float32": check_single_precision,
    "batches": check_batches,
    "derivatives": check_derivatives,
    "header": check_header,
    "cuda": check_cuda,
    "jax": check_jax,
    "torch": check_torch,
}
"""The rules by name. A plugin whose declarations cannot become code is refused before there is any case."""


@dataclass(frozen=True)
class Case:
    """One rule, for one algorithm on one robot.

    Attributes
    ----------
    check : str
        One of :data:`CHECKS`.
    bench : Bench
    """

    check: str
    bench: Bench

    def __str__(self) -> str:
        return f"{self.bench.algorithm.name}-{self.bench.robot.name}-{self.check}"

    @property
    def algorithm(self) -> Algorithm:
        return self.bench.algorithm

    def run(self) -> None:
        """Check the rule.

        Raises
        ------
        ConformanceError
            The algorithm breaks it.
        unittest.SkipTest
            It does not apply, or needs what is not installed.
        GridError
            The algorithm cannot be traced or compiled.
        """
        CHECKS[self.check](self.bench)

    def finding(self) -> Finding:
        """Check the rule, and return what came of it instead of raising."""
        item = f"{self.algorithm.name}, {self.bench.robot.name} robot"
        try:
            self.run()
        except SkipTest as reason:
            return Finding(self.check, item, "off", str(reason))
        except ANY as error:
            return failure(self.check, item, error)
        return Finding(self.check, item, "ok", KEPT[self.check])


KEPT: Mapping[str, str] = {
    "documentation": "the method's docstring says what the declaration does",
    "values": "compiled float64 is what the interpreter gives, with and without optional arguments",
    "float32": "compiled float32 is what the interpreter gives in float64",
    "batches": "none, one, and ragged ones; each row is bit for bit that of the sample alone",
    "derivatives": "declared and traced ones are what differences give",
    "header": "the C++ function gives what the interpreter does",
    "cuda": "the unit renders and, where nvcc is, compiles",
    "jax": "the values of NumPy arrays under jit, and the slopes of the interpreter",
    "torch": "the values of NumPy arrays, and the slopes of the interpreter",
}
"""What is true of an algorithm that keeps a rule."""


def conformance(
    plugin: Tested, *, checks: Sequence[str] = tuple(CHECKS), robots: Sequence[SampleRobot] = ROBOTS
) -> tuple[Case, ...]:
    """Return the cases of a plugin or an algorithm: each check for each algorithm on each robot.

    Parameters
    ----------
    plugin : str, Path, module or Algorithm
        A plugin, installed or not: its file, the folder of its package, its module, or the name of its entry point. Or
        an algorithm, of a plugin that is installed or whose module is imported.
    checks : sequence of str
        Some of :data:`CHECKS`.
    robots : sequence of SampleRobot
        A fixed and a floating one, unless the algorithms need others.

    Raises
    ------
    PluginError
        There is no such plugin, or its declarations cannot become code.
    """
    subject = subject_of(plugin)
    benches = [Bench(algorithm, robot, subject.plugins) for algorithm in subject.algorithms for robot in robots]
    return tuple(Case(check, bench) for bench in benches for check in checks)
