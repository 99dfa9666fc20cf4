"""Checks that a method without a unit of its own and the algorithms that it calls fit each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grid_core.errors import PluginError
from grid_core.plugins.algorithm import Algorithm, Output


def check_callees(algorithm: Algorithm, algorithms: Mapping[str, Algorithm]) -> None:
    """Raise :class:`PluginError` unless what a choice or a scan calls takes its inputs and gives its outputs."""
    if algorithm.choice is not None:
        names = algorithm.choice.inputs_of(algorithm.inputs)
        for callee in algorithm.choice.algorithms.values():
            _check(algorithm, algorithms[callee], names, algorithm.outputs)
    if algorithm.scan is not None:
        names = tuple(i.name for i in algorithm.inputs)
        for callee, output in zip((algorithm.scan.step, *algorithm.scan.beside), algorithm.outputs):
            _check(algorithm, algorithms[callee], names, (output,))


def _check(caller: Algorithm, callee: Algorithm, names: tuple[str, ...], outputs: Iterable[Output]) -> None:
    taken = tuple(i.name for i in callee.inputs)
    if set(taken) != set(names):
        raise PluginError(
            f"{caller.name!r} passes {', '.join(names)} to {callee.name!r}, which takes {', '.join(taken)}; declare "
            "the same inputs"
        )
    shapes, expected = [o.shape for o in callee.outputs], [o.shape for o in outputs]
    if shapes != expected:
        raise PluginError(
            f"{caller.name!r} returns shapes {expected}, but {callee.name!r}, which it calls, {shapes}; declare "
            "the same outputs"
        )
