"""Derivatives, declared ones and those of the tracer, against differences of the interpreter's values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.errors import NoDerivativeError
from grid_core.kernel.derivative import Product, rates_product
from grid_core.testing.bench import SEED, Array, Bench, distance
from grid_core.testing.errors import NotApplicable

if TYPE_CHECKING:
    from grid_core.kernel.kernel import Kernel

STENCIL = {1: 45.0, -1: -45.0, 2: -9.0, -2: 9.0, 3: 1.0, -3: -1.0}
"""Weights of central differences of sixth order, to be divided by 60 steps."""

STEP = 1e-3
MOST = 1e-6
"""The largest difference relative to the largest entry."""

SAMPLES = 3


def check_derivatives(bench: Bench) -> None:
    """Move each input along random rates, and compare the rates of the outputs with differences."""
    bench.require_unit()
    arguments = bench.arguments(SAMPLES)
    values = _Values(bench, tuple(arguments), bench.numbers(arguments))
    moving = moving_inputs(bench, arguments)
    if not moving:
        raise NotApplicable(f"{bench.algorithm.name!r} has no input that can move")
    for name in moving:
        values.check_along(name)


def moving_inputs(bench: Bench, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the inputs of a call that derivatives can be along: those that are not read from names or choices."""
    return tuple(i.name for i in bench.algorithm.inputs if i.name in arguments and i.read is None)


@dataclass(frozen=True)
class _Values:
    """The values of an algorithm around some samples."""

    bench: Bench
    given: tuple[str, ...]
    numbers: dict[str, Array]

    def check_along(self, name: str) -> None:
        """Compare the derivatives along an input.

        Raises
        ------
        NotApplicable
            The algorithm has none, and says so.
        """
        try:
            product = rates_product(self.bench.algorithm, [name], self.given)
            kernel = self.bench.kernel(product.algorithm, [*self.given, *product.factors.values()])
        except NoDerivativeError as error:
            raise NotApplicable(str(error)) from None
        rates = np.random.default_rng(SEED).standard_normal(self.numbers[name].shape)
        found = self.bench.evaluated(kernel, {**self.numbers, product.factors[name]: rates})
        self._compare(name, product, found, self._differences(name, rates))

    def _compare(self, name: str, product: Product, found: Mapping[str, Array], expected: Mapping[str, Array]) -> None:
        for output, result in product.results.items():
            if (error := distance(found[result], expected[output])) > MOST:
                raise self.bench.refuse(
                    f"the derivative of {output!r} along {name!r} differs from differences of values by {error:.1e} of "
                    f"its largest entry, more than {MOST:.0e}",
                    self._advice(name),
                )

    def _differences(self, name: str, rates: Array) -> dict[str, Array]:
        kernel: Kernel = self.bench.kernel(self.bench.algorithm, self.given)

        def at(step: float) -> dict[str, Array]:
            return self.bench.evaluated(kernel, {**self.numbers, name: self.numbers[name] + step * rates})

        return _slope(at)

    def _advice(self, name: str) -> str:
        declared = self.bench.algorithm.jacobian.get(name)
        if declared is None:
            return "look for jumps and kinks, which select() and minimum() make, at ordinary values"
        return f"correct {declared.algorithm!r}, or the columns of it that jacobian={{{name!r}: ...}} names"


def _slope(values: Callable[[float], Mapping[str, Array]]) -> dict[str, Array]:
    rows = [(weight, values(STEP * steps)) for steps, weight in STENCIL.items()]
    return {name: np.sum([w * row[name] for w, row in rows], axis=0) / (60.0 * STEP) for name in rows[0][1]}
