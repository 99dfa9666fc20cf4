"""Derivatives along the inputs of an algorithm: along the tangent where an input is a configuration.

The tangent of a configuration is that of the model's retraction: velocities of a free base are in body axes, linear
before angular, so that with ``R`` the rotation of the quaternion ``h`` the rates of position and quaternion are ``R v``
and ``h (x) (w, 0) / 2``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grid_core.errors import TraceError
from grid_core.trace.autodiff import jvp, vjp
from grid_core.trace.linalg import dot, rotation_of_quaternion
from grid_core.trace.scalar import Real, Scalar

if TYPE_CHECKING:
    from grid_core.model import Model

Direction = Mapping[Scalar, Real]
"""Rates of change of the scalars of an input, when it moves along one column of a Jacobian."""


def plain_directions(values: Sequence[Real], what: str) -> list[Direction]:
    """Return one direction per scalar of an input."""
    return [{x: 1.0} for x in _variables(values, what)]


def configuration_directions(model: Model, q: Sequence[Real], what: str) -> list[Direction]:
    """Return one direction per velocity slot, along the tangent at ``q``."""
    q = _variables(q, what)
    found: dict[int, Direction] = {}
    for kind, q0, v0, nq, nv in model.configuration_layout:
        own = q[q0 : q0 + nq]
        if kind == "euclidean":
            columns: list[Direction] = [{x: 1.0} for x in own]
        else:
            turns = [_moving(own[-4:], rates) for rates in _quaternion_rates(own[-4:])]
            columns = [*(_moving(own[:3], axis) for axis in zip(*rotation_of_quaternion(own[-4:]))), *turns][-nv:]
        found.update(zip(range(v0, v0 + nv), columns))
    return [found[slot] for slot in range(model.nv)]


def tangent_rates(model: Model, q: Sequence[Real]) -> list[dict[int, Real]]:
    """Return the matrix that maps rates of the numbers of ``q`` to rates along the tangent at ``q``.

    One row per velocity slot, its entries by number. Its transpose maps slopes along the tangent to slopes along the
    numbers of ``q``. Rates along the length of a quaternion are lost, as it is in every function of a configuration.
    """
    rows: dict[int, dict[int, Real]] = {}
    for kind, q0, v0, nq, nv in model.configuration_layout:
        if kind == "euclidean":
            rows |= {v0 + i: {q0 + i: 1.0} for i in range(nq)}
            continue
        quaternion, first = q[q0 + nq - 4 : q0 + nq], q0 + nq - 4
        scale = 4.0 / dot(quaternion, quaternion)
        for i, rates in enumerate(_quaternion_rates(quaternion)):
            rows[v0 + nv - 3 + i] = {first + j: scale * rate for j, rate in enumerate(rates)}
        if nq == 7:
            for i, axis in enumerate(zip(*rotation_of_quaternion(quaternion))):
                rows[v0 + i] = {q0 + j: entry for j, entry in enumerate(axis)}
    return [rows[slot] for slot in range(model.nv)]


def derivatives(outputs: Sequence[Real], directions: Sequence[Direction]) -> list[list[Real]]:
    """Return the matrix of derivatives of ``outputs`` (rows) along ``directions`` (columns).

    Few outputs are differentiated backwards, which costs the same for any number of columns.
    """
    if len(outputs) >= len(directions):
        columns = [jvp(outputs, direction) for direction in directions]
        return [[column[row] for column in columns] for row in range(len(outputs))]
    inputs = list(dict.fromkeys(x for direction in directions for x in direction))
    return [[_along(inputs, gradient, d) for d in directions] for gradient in (_gradient(y, inputs) for y in outputs)]


def _gradient(output: Real, inputs: Sequence[Scalar]) -> list[Real]:
    return vjp([output], [1.0], inputs)


def _along(inputs: Sequence[Scalar], gradient: Sequence[Real], direction: Direction) -> Real:
    total: Real = 0.0
    for x, slope in zip(inputs, gradient):
        total = total + slope * direction.get(x, 0.0)
    return total


def _quaternion_rates(quaternion: Sequence[Real]) -> tuple[tuple[Real, ...], ...]:
    """Return the rates of ``x y z w`` under unit angular velocities about the body axes."""
    x, y, z, w = (0.5 * part for part in quaternion)
    return (w, z, -y, -x), (-z, w, x, -y), (y, -x, w, -z)


def _moving(scalars: Sequence[Scalar], rates: Sequence[Real]) -> Direction:
    return dict(zip(scalars, rates))


def _variables(values: Sequence[Real], what: str) -> list[Scalar]:
    found = [x for x in values if isinstance(x, Scalar)]
    if len(found) < len(values) or len(set(found)) < len(found):
        raise TraceError(
            f"{what} is constant or repeats a value here, so there is no derivative along it; differentiate in an "
            "algorithm that gets it as an argument"
        )
    return found
