"""Checks the types of what a declaration is made of; a string where a tuple is meant is the classic slip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grid_core.errors import PluginError
from grid_core.plugins.algorithm import Absent, Algorithm, Choice, Input, Output, Scan

TEXTS = ("name", "family", "summary", "result", "notes", "source", "template")
NAMES = ("requires", "aliases", "profiles", "needs")
FLAGS = ("keyword_only", "each", "required", "held")


def check_fields(algorithm: Algorithm) -> None:
    """Raise :class:`PluginError` for a field of an algorithm, or of its inputs and outputs, of the wrong type."""
    what = f"algorithm {algorithm.name!r}"
    for name, value, expected, good in _fields(algorithm):
        if not good:
            raise PluginError(f"{what}: {name} is {value!r:.80}, expected {expected}")
    for declared in algorithm.inputs:
        for name, value, expected, good in _input_fields(declared):
            if not good:
                raise PluginError(f"{what}: {name} of input {declared.name!r} is {value!r:.80}, expected {expected}")


Field = tuple[str, Any, str, bool]
"""A name, its value, what is expected, and whether it is that."""


def _fields(algorithm: Algorithm) -> Iterator[Field]:
    for name in TEXTS:
        value = getattr(algorithm, name)
        yield name, value, "text (str)", isinstance(value, str)
    for name in NAMES:
        value = getattr(algorithm, name)
        yield name, value, "a tuple of names, such as ('crba',)", _is_tuple_of(str, value)
    for name, kind in (("inputs", Input), ("outputs", Output)):
        value = getattr(algorithm, name)
        yield name, value, f"a tuple of grid_core.plugins.{kind.__name__} objects", _is_tuple_of(kind, value)
    arguments: list[Input | Output] = [*algorithm.inputs, *algorithm.outputs]
    for argument in arguments:
        yield "the name of an argument", argument.name, "text (str)", isinstance(argument.name, str)
        yield f"doc of {argument.name!r}", argument.doc, "text (str)", isinstance(argument.doc, str)
    value = algorithm.jacobian
    yield "jacobian", value, "a dict of inputs and Jacobian objects", isinstance(value, Mapping)
    yield "choice", algorithm.choice, "a Choice, or None", isinstance(algorithm.choice, (Choice, type(None)))
    yield "scan", algorithm.scan, "a Scan, or None", isinstance(algorithm.scan, (Scan, type(None)))
    yield "opt_in", algorithm.opt_in, "True or False", isinstance(algorithm.opt_in, bool)


def _input_fields(declared: Input) -> Iterator[Field]:
    default = declared.default
    yield "default", default, "a number, or None", default is None or _is_number(default) or declared.read is not None
    yield "typical", declared.typical, "a number", _is_number(declared.typical)
    yield "absent", declared.absent, "an Absent, or None", isinstance(declared.absent, (Absent, type(None)))
    yield "tangent", declared.tangent, "'configuration', or None", declared.tangent in ("configuration", None)
    yield "read", declared.read, "a function, or None", declared.read is None or callable(declared.read)
    for name in FLAGS:
        value = getattr(declared, name)
        yield name, value, "True or False", isinstance(value, bool)


def _is_tuple_of(kind: type, value: object) -> bool:
    listed = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    return listed and all(isinstance(entry, kind) for entry in value)  # type: ignore[attr-defined]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
