"""Methods that call a step again and again: what one step takes and gives, for whatever repeats it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from grid_backends.frameworks.batches import check_shapes
from grid_backends.numpy.scan import step_count
from grid_backends.numpy.signature import Signature
from grid_core.errors import ArgumentError

Arrays = tuple[Any, ...]
Called = Callable[[Signature, Arrays], Arrays]


class Steps:
    """The steps of one call.

    Parameters
    ----------
    signature : Signature
        The method.
    callees : sequence of Signature
        The step, and what is called beside it.
    given : mapping of str to array or None
        Inputs of the method by name; those with a row per step have one more axis.
    called : callable
        ``called(signature, values)`` gives the outputs of an algorithm.
    xp : module
        The functions of the framework on arrays, named as in NumPy.

    Attributes
    ----------
    count : int
    batch : tuple of int
        Batch axes of the call.
    shapes : tuple of tuple of int
        Of what one step gives.
    """

    def __init__(
        self, signature: Signature, callees: Sequence[Signature], given: Mapping[str, Any], called: Called, xp: Any
    ) -> None:
        scan = signature.algorithm.scan
        assert scan is not None
        self._callees, self._called, self._xp = callees, called, xp
        self._carried = scan.carried
        self._sizes = {i.name: i.size for i in signature.inputs}
        self._along = {name: given[name] for name in scan.along if given[name] is not None}
        self._held = {n: a for n, a in given.items() if n not in self._along and a is not None}
        for name, rows in self._along.items():
            if rows.ndim < 2 or rows.shape[-1] != self._sizes[name]:
                raise ArgumentError(
                    f"{signature.name}: argument {name!r} has shape {tuple(rows.shape)}, expected "
                    f"(..., n, {self._sizes[name]}) for n steps, or n = 1 for all of them"
                )
        self.count = step_count(signature, self._along)
        arguments = [i for i in signature.inputs if i.name in self._along or i.name in self._held]
        shapes = [
            (*a.shape[:-2], a.shape[-1]) if i.name in self._along else tuple(a.shape)
            for i in arguments
            for a in (given[i.name],)
        ]
        self.batch = check_shapes(signature, arguments, shapes)
        self.shapes = tuple((*self.batch, *o.shape) for o in signature.outputs)

    def start(self) -> Any:
        """Return the first state, shape (*batch, nx)."""
        parts = [self._xp.broadcast_to(self._held[n], (*self.batch, self._sizes[n])) for n in self._carried]
        return self._xp.concatenate(parts, -1)

    def rows(self) -> dict[str, Any]:
        """Return the arrays that have one row per step, these rows along the first axis."""
        return {n: self._xp.moveaxis(a, -2, 0) for n, a in self._along.items() if a.shape[-2] == self.count}

    def advance(self, state: Any, rows: Mapping[str, Any]) -> Arrays:
        """Return the state after one step, and what is beside it, from the state and the rows of the step."""
        ends = list(accumulate(self._sizes[name] for name in self._carried))
        parts = {n: state[..., end - self._sizes[n] : end] for n, end in zip(self._carried, ends)}
        single = {n: a[..., 0, :] for n, a in self._along.items() if n not in rows}
        values = {**self._held, **parts, **single, **rows}
        found: list[Any] = []
        for callee in self._callees:
            found += self._called(callee, tuple(values.get(i.name) for i in callee.inputs))
        return tuple(found)

    def finished(self, start: Any, results: Sequence[Any]) -> Arrays:
        """Return the results of the method, from those of all steps stacked along the first axis."""
        axis = len(self.batch)
        states, *beside = (self._xp.moveaxis(a, 0, axis) for a in results)
        return (self._xp.concatenate([start[..., None, :], states], -2), *beside)
