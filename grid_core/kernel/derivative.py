"""Algorithms that others lead to: products of a Jacobian with rates of inputs, or with slopes along outputs.

They are declared and built like any other: front-ends differentiate every algorithm by calling one more unit, and a
product has products of its own, to any order.

Rates and slopes of a configuration belong to its numbers, quaternions included, so that what a framework checks by
differences of arrays holds. Functions of a configuration normalise its quaternions: their slopes are orthogonal to
them, and rates along them have no effect. Where a declared :class:`~grid_core.plugins.algorithm.Jacobian` has the
columns of the tangent, :func:`~grid_core.kernel.tangent.tangent_rates` maps between both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from math import prod
from typing import TYPE_CHECKING, Any

from grid_core.errors import NoDerivativeError, TraceError
from grid_core.kernel.nesting import flatten_any, nest
from grid_core.kernel.tables import TABLES
from grid_core.kernel.tangent import tangent_rates
from grid_core.plugins.algorithm import Absent, Algorithm, Input, Output, Shape, resolve
from grid_core.trace.autodiff import jvp, vjp
from grid_core.trace.linalg import dot

if TYPE_CHECKING:
    from grid_core.kernel.builder import KernelBuilder
    from grid_core.trace.scalar import Real

RATES, SLOPES = "rates", "slopes"
OPTIONS = {table.input.name: option for option, table in TABLES.items()}
"""Input -> the option that makes a parameter table an input."""

Values = dict[str, "list[Real]"]


@dataclass(frozen=True)
class Product:
    """An algorithm that multiplies with the Jacobian of another one.

    Attributes
    ----------
    kind : str
        ``RATES`` or ``SLOPES``: what it returns.
    algorithm : Algorithm
    factors : mapping of str to str
        Its inputs that the product is linear in, by what they belong to: inputs of the other algorithm that move, or
        its outputs.
    results : mapping of str to str
        Its outputs, likewise.
    """

    kind: str
    algorithm: Algorithm
    factors: Mapping[str, str]
    results: Mapping[str, str]


def rates_product(
    base: Algorithm, moving: Sequence[str], given: Collection[str], tables: Sequence[Input] = ()
) -> Product:
    """Return the algorithm for the rates of all outputs when some inputs move: a product with the Jacobian.

    Parameters
    ----------
    base : Algorithm
    moving : sequence of str
        Inputs that have rates, run-time tables among them.
    given : collection of str
        Inputs that calls have; optional ones that are left out and make a variant are not traced.
    tables : sequence of Input
        The parameter tables of the build.
    """
    shapes = _checked_shapes(base, moving, tables)
    kept = _kept(base, moving, given)
    taken = {i.name for i in kept} | {t.name for t in tables}
    factors = {name: _distinct(f"{name}_rate", taken) for name in moving}
    results = {o.name: _distinct(f"{o.name}_rate", taken) for o in base.outputs}
    seeds = tuple(Input(factors[name], shapes[name], f"rate of {name}", keyword_only=True) for name in moving)

    def emit(k: KernelBuilder) -> None:
        traced = _Traced(k, base, kept, moving)
        rates: Values = {name: flatten_any(k.input(factor)) for name, factor in factors.items()}
        for name, values in traced.rates(rates).items():
            k.output(results[name], nest(values, resolve(shape_of[name], k.dims)))

    shape_of = {o.name: o.shape for o in base.outputs}
    outputs = tuple(Output(results[name], shape, f"rate of {name}") for name, shape in shape_of.items())
    algorithm = _declared(base, RATES, moving, given, (*kept, *seeds), outputs, emit)
    return Product(RATES, algorithm, factors, results)


def slopes_product(
    base: Algorithm, moving: Sequence[str], given: Collection[str], tables: Sequence[Input] = ()
) -> Product:
    """Return the algorithm for the slopes along some inputs: a product of slopes along outputs with the Jacobian.

    Slopes along outputs that are left out are zero. Parameters are those of :func:`rates_product`.
    """
    shapes = _checked_shapes(base, moving, tables)
    kept = _kept(base, moving, given)
    taken = {i.name for i in kept} | {t.name for t in tables}
    factors = {o.name: _distinct(f"{o.name}_slope", taken) for o in base.outputs}
    results = {name: _distinct(f"{name}_slope", taken) for name in moving}
    seeds = tuple(
        Input(factors[o.name], o.shape, f"slope along {o.name}", absent=Absent.ZERO, keyword_only=True)
        for o in base.outputs
    )

    def emit(k: KernelBuilder) -> None:
        traced = _Traced(k, base, kept, moving)
        slopes: Values = {name: flatten_any(k.input(factor)) for name, factor in factors.items()}
        for name, values in traced.slopes(slopes).items():
            k.output(results[name], nest(values, resolve(shape_of[name], k.dims)))

    shape_of = {name: shapes[name] for name in moving}
    outputs = tuple(Output(results[name], shape, f"slope along {name}") for name, shape in shape_of.items())
    algorithm = _declared(base, SLOPES, moving, given, (*kept, *seeds), outputs, emit)
    return Product(SLOPES, algorithm, factors, results)


class _Traced:
    """The values of an algorithm and the scalars of the inputs that move."""

    def __init__(self, k: KernelBuilder, base: Algorithm, kept: Sequence[Input], moving: Sequence[str]) -> None:
        self._k, self._base = k, base
        self._arguments = {i.name: k.input(i.name) for i in kept}
        self._inputs: dict[str, list[Any]] = {
            name: flatten_any(k.tree.table(OPTIONS[name]) if name in OPTIONS else k.input(name)) for name in moving
        }
        self._declared = [name for name in moving if name in base.jacobian]
        self._traced = [name for name in moving if name not in base.jacobian]

    def rates(self, rates: Values) -> Values:
        found: Values = {o.name: [0.0] * self._size(o.shape) for o in self._base.outputs}
        for name in self._declared:
            (only,) = found
            moved = self._tangent(name, rates[name])
            found[only] = [a + dot(row, moved) for a, row in zip(found[only], self._columns(name))]
        if self._traced:
            seeds = {x: rate for name in self._traced for x, rate in zip(self._inputs[name], rates[name])}
            for name, values in self._values().items():
                found[name] = [a + b for a, b in zip(found[name], self._differentiated(jvp, values, seeds))]
        return found

    def slopes(self, slopes: Values) -> Values:
        found: Values = {}
        for name in self._declared:
            (weights,) = slopes.values()
            along = [dot(column, weights) for column in zip(*self._columns(name))]
            found[name] = self._from_tangent(name, along)
        if self._traced:
            values = self._values()
            inputs = [x for name in self._traced for x in self._inputs[name]]
            outputs = [y for name in slopes for y in values[name]]
            weights = [w for flat in slopes.values() for w in flat]
            flat = iter(self._differentiated(vjp, outputs, weights, inputs))
            found |= {name: [next(flat) for _ in self._inputs[name]] for name in self._traced}
        return {name: found[name] for name in self._inputs}

    def _values(self) -> Values:
        results = self._k.call(self._base.name, **self._arguments)
        several = results if len(self._base.outputs) > 1 else {self._base.outputs[0].name: results}
        return {name: flatten_any(values) for name, values in several.items()}

    def _differentiated(self, mode: Callable[..., list[Real]], *arguments: Any) -> list[Real]:
        try:
            return mode(*arguments)
        except TraceError as error:
            raise NoDerivativeError(
                f"{self._base.name!r} has no derivative along {', '.join(self._traced)} for this robot: {error}, and "
                "name it in Algorithm.jacobian"
            ) from error

    def _columns(self, name: str) -> list[list[Real]]:
        """Return the declared derivative along an input: one row per scalar of the output."""
        declared = self._base.jacobian[name]
        values = self._k.call(declared.algorithm, **self._arguments)
        first = sum(self._size((width,)) for width in declared.first)
        width = self._k.model.nv if self._is_configuration(name) else len(self._inputs[name])
        flat = flatten_any(values)
        row = len(flat) // self._size(self._base.outputs[0].shape)
        return [flat[at + first : at + first + width] for at in range(0, len(flat), row)]

    def _tangent(self, name: str, rates: Sequence[Real]) -> list[Real]:
        """Return rates along the columns of a declared derivative."""
        if not self._is_configuration(name):
            return list(rates)
        return [dot(list(row.values()), [rates[i] for i in row]) for row in self._rows(name)]

    def _from_tangent(self, name: str, slopes: Sequence[Real]) -> list[Real]:
        if not self._is_configuration(name):
            return list(slopes)
        found: list[Real] = [0.0] * len(self._inputs[name])
        for row, slope in zip(self._rows(name), slopes):
            for i, entry in row.items():
                found[i] = found[i] + entry * slope
        return found

    def _rows(self, name: str) -> list[dict[int, Real]]:
        return tangent_rates(self._k.model, self._inputs[name])

    def _size(self, shape: Shape) -> int:
        return prod(resolve(shape, self._k.dims))

    def _is_configuration(self, name: str) -> bool:
        return any(i.name == name and i.tangent == "configuration" for i in self._base.inputs)


def _checked_shapes(base: Algorithm, moving: Sequence[str], tables: Sequence[Input]) -> dict[str, Shape]:
    """Return the shapes of all inputs, after checking that derivatives along some of them mean something."""
    declared = {i.name: i for i in (*base.inputs, *tables)}
    for name in moving:
        if declared[name].read is not None:
            raise NoDerivativeError(
                f"{base.name!r} has no derivative along {name!r}, which is read from names or choices; pass plain "
                "values, not those of a differentiated function"
            )
    return {name: i.shape for name, i in declared.items()}


def _kept(base: Algorithm, moving: Sequence[str], given: Collection[str]) -> tuple[Input, ...]:
    """Return the inputs of a product: those of the algorithm, without variants, required if they move."""
    traced = (i for i in base.inputs if i.name in given or i.absent is not Absent.VARIANT)
    kept = (replace(i, keyword_only=True) for i in traced)  # so that any of them may be required
    return tuple(
        replace(i, absent=None, default=None)
        if i.name in moving
        else replace(i, absent=Absent.ZERO)
        if i.absent is Absent.VARIANT
        else i
        for i in kept
    )


def _declared(
    base: Algorithm,
    kind: str,
    moving: Sequence[str],
    given: Collection[str],
    inputs: tuple[Input, ...],
    outputs: tuple[Output, ...],
    emit: Callable[[KernelBuilder], None],
) -> Algorithm:
    left_out = [i.name for i in base.inputs if i.absent is Absent.VARIANT and i.name not in given]
    words = [base.name, kind, "along", *moving, *(["without", *left_out] if left_out else [])]
    others = dict.fromkeys(j.algorithm for name, j in base.jacobian.items() if name in moving)
    return Algorithm(
        name="_".join(words),
        family=base.family,
        summary=f"{kind.capitalize()} of {base.name} along {', '.join(moving)}.",
        inputs=inputs,
        outputs=outputs,
        emit=emit,
        requires=(base.name, *others),
    )


def _distinct(name: str, taken: set[str]) -> str:
    """Return the name, numbered if it is taken; it is then taken."""
    found = next(n for n in chain([name], (f"{name}{i}" for i in count(2))) if n not in taken)
    taken.add(found)
    return found
