"""Docstrings of handle methods, written from declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from textwrap import fill
from types import MappingProxyType

from grid_backends.numpy.signature import Argument, Signature
from grid_core.plugins.algorithm import Absent, Input

WIDTH = 100
NOTHING: Mapping[str, str] = MappingProxyType({})


def docstring(signature: Signature, more: Mapping[str, str] = NOTHING, arrays: str = "ndarray") -> str:
    """Return the numpydoc text of an algorithm's method: shapes, units, errors and source.

    ``more`` documents keyword parameters that are not declared; ``arrays`` says what results are.
    """
    algorithm = signature.algorithm
    blocks = [
        algorithm.summary,
        "Parameters\n----------\n" + "\n".join((*_parameters(signature), *_more(more))),
        "Returns\n-------\n" + "\n".join(_returns(signature, arrays)),
        "Raises\n------\nArgumentError\n    An argument has a wrong shape, dtype or batch.",
    ]
    if algorithm.notes:
        blocks.append(f"Notes\n-----\n{algorithm.notes}")
    if algorithm.source:
        blocks.append(f"References\n----------\n{algorithm.source}")
    return "\n\n".join(blocks) + "\n"


def _parameters(signature: Signature) -> Iterator[str]:
    scan = signature.algorithm.scan
    for argument in signature.inputs:
        declared = argument.declared
        assert isinstance(declared, Input)
        optional = ", optional" if declared.optional else ""
        shape = _per_step(argument, "n") if scan and argument.name in scan.along else _shape(argument)
        kind = "object" if declared.read else f"array_like{_number(argument)}, {shape}"
        yield f"{argument.name} : {kind}{optional}"
        absent = " The current table of the handle if left out." if declared in signature.tables else _absent(declared)
        yield _indented(_sentence(declared.doc) + absent)


def _more(parameters: Mapping[str, str]) -> Iterator[str]:
    for name, text in parameters.items():
        yield f"{name} : optional"
        yield _indented(text)


def _returns(signature: Signature, arrays: str) -> Iterator[str]:
    for number, argument in enumerate(signature.outputs):
        shape = _shape(argument)
        if signature.for_each:
            shape = f"shape (..., n, {', '.join(argument.declared.shape)}) for n items"
        elif signature.algorithm.scan:
            shape = _per_step(argument, "n" if number else "n + 1")
        yield f"{argument.name} : {arrays}, {shape}, {signature.dtype}"
        yield _indented(_sentence(argument.declared.doc))


def _per_step(argument: Argument, steps: str) -> str:
    return f"shape (..., {steps}, {', '.join(argument.declared.shape)}) for n steps"


def _shape(argument: Argument) -> str:
    return f"shape {argument.symbols}" + (f" = {argument}" if argument.symbols != str(argument) else "")


def _number(argument: Argument) -> str:
    return " or float" if getattr(argument.declared, "scalar_slot", None) is not None else ""


def _absent(declared: Input) -> str:
    if not declared.optional or declared.read:
        return ""
    if declared.default is not None:
        slot = f" in component {declared.scalar_slot}, zero elsewhere" if declared.scalar_slot is not None else ""
        return f" Default {declared.default!r}{slot}."
    return " Zero if left out." + (" Leaving it out is cheaper." if declared.absent is Absent.VARIANT else "")


def _sentence(text: str) -> str:
    return text.rstrip(".") + "."


@cache
def _indented(text: str) -> str:
    return fill(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
