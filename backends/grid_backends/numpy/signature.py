"""The signature of an algorithm for one robot: a declaration whose shapes are numbers."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from grid_backends.numpy.results import result_type
from grid_core.errors import PluginError
from grid_core.plugins.algorithm import Algorithm, Input, Output, resolve

RESERVED = ("self", "out", "stream", "_convention", "_more", "_unknown")
"""Parameters that methods have besides their inputs."""


@dataclass(frozen=True)
class Argument:
    """An input or output with its per-sample shape in numbers.

    Parameters
    ----------
    declared : Input or Output
        What the plugin declares.
    shape : tuple of int
        Per-sample shape.
    """

    declared: Input | Output
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def size(self) -> int:
        """Scalars per sample."""
        return prod(self.shape)

    @property
    def symbols(self) -> str:
        """The shape as declared, with batch axes: ``(..., nv, 2*nv)``."""
        return f"({', '.join(('...', *self.declared.shape))})"

    def __str__(self) -> str:
        return f"({', '.join(('...', *map(str, self.shape)))})"


@dataclass(frozen=True)
class Signature:
    """An algorithm's arguments and results for one robot and one dtype.

    Parameters
    ----------
    algorithm : Algorithm
        The declaration.
    dims : mapping of str to int
        The robot's dimensions (``nq``, ``nv``, ``nb``, ...).
    dtype : numpy.dtype
        Of arrays that the algorithm takes and returns.
    tables : tuple of Input
        Parameter tables of the build, which every algorithm takes beside its own inputs.

    Raises
    ------
    PluginError
        The declaration cannot be a Python signature.
    """

    algorithm: Algorithm
    dims: Mapping[str, int]
    dtype: np.dtype[Any]
    tables: tuple[Input, ...] = ()

    def __post_init__(self) -> None:
        if not _is_name(self.name):
            self._reject("its name is no Python name; rename it")
        seen: set[str] = set(RESERVED)
        optional = ""
        for argument in self.declared:
            if not _is_name(argument.name) or argument.name in seen:
                self._reject(f"input {argument.name!r} is reserved, repeated or no Python name; rename it")
            seen.add(argument.name)
            if argument.keyword_only:
                continue
            if optional and not argument.optional:
                self._reject(
                    f"input {argument.name!r} is required but follows {optional!r}, which is not; reorder them"
                )
            optional = argument.name if argument.optional else optional
        if not self.algorithm.outputs:
            self._reject("it has no output; declare one")

    def _reject(self, rule: str) -> None:
        raise PluginError(f"algorithm {self.algorithm.name!r} of family {self.algorithm.family!r}: {rule}")

    @property
    def name(self) -> str:
        return self.algorithm.name

    @property
    def declared(self) -> tuple[Input, ...]:
        """The inputs as declared, the tables of the build after the algorithm's own."""
        return (*self.algorithm.inputs, *self.tables)

    @property
    def readable(self) -> tuple[Input, ...]:
        """Inputs whose values are read from what a caller passes, such as the names of frames."""
        return tuple(i for i in self.algorithm.inputs if i.read is not None)

    @property
    def for_each(self) -> bool:
        """Whether a call runs once for each item of a list."""
        return any(i.each for i in self.algorithm.inputs)

    @cached_property
    def inputs(self) -> tuple[Argument, ...]:
        return tuple(Argument(i, resolve(i.shape, self.dims)) for i in self.declared)

    @cached_property
    def outputs(self) -> tuple[Argument, ...]:
        return tuple(Argument(o, resolve(o.shape, self.dims)) for o in self.algorithm.outputs)

    @cached_property
    def result(self) -> type[tuple[Any, ...]] | None:
        """The named tuple class of several outputs; ``None`` for a single one."""
        names = tuple(o.name for o in self.outputs)
        return result_type(self.algorithm.result_name, names) if len(names) > 1 else None

    def parameters(self, more: str = "") -> str:
        """Return the parameter list of a method as far as it is declared: ``self, q, qd=None, *, gravity=-9.81``.

        ``more`` is the name that catches further positional arguments.
        """
        positional = [_parameter(i) for i in self.declared if not i.keyword_only]
        named = [_parameter(i) for i in self.declared if i.keyword_only]
        return ", ".join(["self", *positional, f"*{more}", *named])


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _parameter(argument: Input) -> str:
    """Return a parameter; one that is a vector of one number by default has no literal, so it is None there."""
    literal = None if argument.shape and argument.scalar_slot is None else argument.default
    return f"{argument.name}={literal!r}" if argument.optional else argument.name
