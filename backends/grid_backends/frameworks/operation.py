"""Functions of a robot on arrays, and the functions that are products with their Jacobians.

What a framework differentiates is an operation; what it gets is another one. Both are units of the robot.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from grid_backends.numpy.functions import open_function
from grid_backends.numpy.record import RobotRecord
from grid_backends.numpy.signature import Argument, Signature
from grid_core.kernel.derivative import RATES, Product, rates_product, slopes_product
from grid_core.plugins.algorithm import Algorithm
from grid_store import Store


class Units(Protocol):
    """The compiled units of a robot."""

    @property
    def identity(self) -> str:
        """What tells this build of a robot, in its store, from others, also in other processes."""

    @property
    def store(self) -> Store:
        """Where they are kept."""

    def declared(self, name: str, /) -> Path | None:
        """Return the unit of a declared algorithm, ``None`` if the robot entry does not hold it."""

    def product(self, chain: Sequence[Algorithm], /) -> Path:
        """Return the unit of the last algorithm, building it if need be; each of them follows from the one before."""


@dataclass(frozen=True)
class Derived:
    """An operation that answers for the derivative of another one.

    Parameters
    ----------
    operation : Operation
    kept : tuple of str
        Arguments of the other one that it takes; behind them it takes the rates of what moves, or the slopes along
        outputs, in the order asked for.
    picked : tuple of int
        Its outputs that are asked for.
    """

    operation: Operation
    kept: tuple[str, ...]
    picked: tuple[int, ...]


class Operation:
    """An algorithm of a robot with the inputs that calls give.

    Parameters
    ----------
    record : RobotRecord
        The robot entry.
    units : Units
        Its units.
    threads : int
        Most threads of a call.
    chain : tuple of Algorithm
        The declared algorithm, and the products from it to this one.
    given : tuple of str
        Inputs that calls give, in order.
    """

    def __init__(
        self,
        record: RobotRecord,
        units: Units,
        threads: int,
        chain: tuple[Algorithm, ...],
        given: tuple[str, ...],
        origin: tuple[Operation, Product] | None = None,
    ) -> None:
        self.record, self.units, self.threads, self.given = record, units, threads, given
        self._chain, self._origin = chain, origin
        self._derived: dict[Any, Derived] = {}

    @cached_property
    def signature(self) -> Signature:
        declared = self.record.signatures[self._chain[0].name]
        return Signature(self._chain[-1], declared.dims, declared.dtype, declared.tables)

    @property
    def name(self) -> str:
        return self._chain[-1].name

    @cached_property
    def key(self) -> str:
        """What tells it from other operations, also in other processes: the algorithm, and a digest."""
        text = "\0".join((self.units.identity, str(self.threads), self.name, *self.given))
        return f"{self.name}_{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """What calls give."""
        known = {argument.name: argument for argument in self.signature.inputs}
        return tuple(known[name] for name in self.given)

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """How many axes a sample of each argument has."""
        return tuple(len(argument.shape) for argument in self.arguments)

    @cached_property
    def outputs(self) -> tuple[Argument, ...]:
        return self.signature.outputs

    @cached_property
    def path(self) -> Path:
        """The compiled unit, which is built if it is a product that nobody has asked for before.

        Raises
        ------
        AlgorithmNotBuiltError
            The robot entry does not hold the algorithm.
        """
        if len(self._chain) > 1:
            return self.units.product(self._chain)
        path = self.units.declared(self.name)
        assert path is not None
        return path

    @cached_property
    def function(self) -> Any:
        """The function of the unit: ``function(arguments, out, *where)``, one entry per declared input."""
        return open_function(self.path, self.signature, self.record.device)

    def spread(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return one entry per declared input, ``None`` for those that calls do not give."""
        spread = list(self._nothing)
        for place, value in zip(self.places, values):
            spread[place] = value
        return tuple(spread)

    @cached_property
    def _nothing(self) -> list[None]:
        return [None] * len(self.signature.inputs)

    @cached_property
    def places(self) -> list[int]:
        """Where the arguments are among the declared inputs."""
        names = [argument.name for argument in self.signature.inputs]
        return [names.index(name) for name in self.given]

    def rates(self, moving: tuple[str, ...]) -> Derived:
        """Return what gives the rates of all outputs when some arguments move.

        Raises
        ------
        NoDerivativeError
            There is no derivative along one of them.
        """
        return self._known(("rates", moving), lambda: self._linear_rates(moving) or self._rates(moving))

    def slopes(self, moving: tuple[str, ...], weighted: tuple[str, ...]) -> Derived:
        """Return what gives the slopes along some arguments, from slopes along some outputs; others are zero.

        Raises
        ------
        NoDerivativeError
            There is no derivative along one of them.
        """
        key = ("slopes", moving, weighted)
        return self._known(key, lambda: self._linear_slopes(moving, weighted) or self._slopes(moving, weighted))

    def _known(self, key: Any, find: Any) -> Derived:
        if key not in self._derived:
            self._derived[key] = find()
        return self._derived[key]

    def _product(self, product: Product, factors: tuple[str, ...]) -> Operation:
        given = (*self.given, *factors)
        chain = (*self._chain, product.algorithm)
        return Operation(self.record, self.units, self.threads, chain, given, (self, product))

    def _rates(self, moving: tuple[str, ...]) -> Derived:
        product = rates_product(self._chain[-1], moving, self.given, self.signature.tables)
        operation = self._product(product, tuple(product.factors[name] for name in moving))
        return Derived(operation, self.given, tuple(range(len(self.outputs))))

    def _slopes(self, moving: tuple[str, ...], weighted: tuple[str, ...]) -> Derived:
        product = slopes_product(self._chain[-1], moving, self.given, self.signature.tables)
        operation = self._product(product, tuple(product.factors[name] for name in weighted))
        return Derived(operation, self.given, tuple(range(len(moving))))

    def _factors(self, moving: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return what some arguments belong to, if this is a product that is linear in all of them."""
        if self._origin is None:
            return None
        owners = {factor: owner for owner, factor in self._origin[1].factors.items()}
        return tuple(owners[name] for name in moving) if owners.keys() >= set(moving) else None

    def _linear_rates(self, moving: tuple[str, ...]) -> Derived | None:
        """Rates of a product when its factors move: the product with their rates."""
        owners = self._factors(moving)
        if owners is None or self._origin is None:
            return None
        base, product = self._origin
        if product.kind == RATES:
            return base.rates(owners)
        return base.slopes(tuple(product.results), owners)

    def _linear_slopes(self, moving: tuple[str, ...], weighted: tuple[str, ...]) -> Derived | None:
        """Slopes along factors of a product: the transposed product."""
        owners = self._factors(moving)
        if owners is None or self._origin is None:
            return None
        base, product = self._origin
        names = {result: owner for owner, result in product.results.items()}
        weights = tuple(names[name] for name in weighted)
        if product.kind == RATES:
            return base.slopes(owners, weights)
        found = base.rates(weights)
        outputs = [o.name for o in base.outputs]
        return Derived(found.operation, found.kept, tuple(outputs.index(name) for name in owners))
