"""Automatic differentiation as a transform of the traced graph: new nodes for derivatives, shared with the primal ones.

Forward mode (:func:`jvp`) follows branches exactly: the derivative of ``select`` is the selection of the derivatives,
so a branch that is not taken cannot inject a NaN. Reverse mode (:func:`vjp`) is cheaper for few outputs, but
multiplies the adjoint of a branch not taken by zero; keep such branches finite (Griewank and Walther, Evaluating
Derivatives, 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from grid_core.errors import TraceError
from grid_core.trace import functions as f
from grid_core.trace.scalar import Real, Scalar, reachable

Partials = Callable[[Scalar], tuple[Real, ...]]


def _tanh(node: Scalar) -> tuple[Real, ...]:
    return (1.0 - node * node,)


def _atan2(node: Scalar) -> tuple[Real, ...]:
    y, x = node.args
    scale = 1.0 / (x * x + y * y)
    return (x * scale, -y * scale)


def _abs(node: Scalar) -> tuple[Real, ...]:
    (x,) = node.args
    return (f.select(f.less(x, 0.0), -1.0, f.select(f.less(0.0, x), 1.0, 0.0)),)


def _min(node: Scalar) -> tuple[Real, ...]:
    smaller = f.less_equal(*node.args)
    return (f.select(smaller, 1.0, 0.0), f.select(smaller, 0.0, 1.0))


def _max(node: Scalar) -> tuple[Real, ...]:
    larger = f.less_equal(node.args[1], node.args[0])
    return (f.select(larger, 1.0, 0.0), f.select(larger, 0.0, 1.0))


PARTIALS: dict[str, Partials] = {
    "add": lambda n: (1.0, 1.0),
    "sub": lambda n: (1.0, -1.0),
    "neg": lambda n: (-1.0,),
    "mul": lambda n: (n.args[1], n.args[0]),
    "div": lambda n: (1.0 / n.args[1], -n / n.args[1]),
    "sqrt": lambda n: (0.5 / n,),
    "sin": lambda n: (f.cos(n.args[0]),),
    "cos": lambda n: (-f.sin(n.args[0]),),
    "exp": lambda n: (n,),
    "log": lambda n: (1.0 / n.args[0],),
    "tanh": _tanh,
    "atan2": _atan2,
    "abs": _abs,
    "min": _min,
    "max": _max,
}
LEAVES = frozenset({"input", "lt", "le", "eq"})


def _partials(node: Scalar) -> tuple[Real, ...]:
    rule = PARTIALS.get(node.op)
    if rule is None:
        raise TraceError(
            f"no derivative for {node.op!r}: values read from the workspace cannot be differentiated; "
            "write the derivative of the loop by hand"
        )
    return rule(node)


def jvp(outputs: Sequence[Real], seeds: Mapping[Scalar, Real]) -> list[Real]:
    """Return the directional derivatives of ``outputs`` along ``seeds`` (scalar -> its rate of change)."""
    rates: dict[int, Real] = {x.id: rate for x, rate in seeds.items()}
    for node in reachable(outputs):
        if node.id in rates or node.op in LEAVES:
            continue
        if node.op in ("load", "slot"):
            _partials(node)
        if node.op == "select":
            condition, x, y = node.args
            dx, dy = _rate(rates, x), _rate(rates, y)
            rate = 0.0 if _is_zero(dx) and _is_zero(dy) else f.select(condition, dx, dy)  # type: ignore[arg-type]
        else:
            moving = [_rate(rates, a) for a in node.args]
            if all(_is_zero(r) for r in moving):
                continue
            rate = 0.0
            for partial, r in zip(_partials(node), moving):
                rate = rate + partial * r
        if not _is_zero(rate):
            rates[node.id] = rate
    return [_rate(rates, y) for y in outputs]


def vjp(outputs: Sequence[Real], cotangents: Sequence[Real], inputs: Sequence[Scalar]) -> list[Real]:
    """Return the gradient of ``sum(cotangents * outputs)`` along each of ``inputs``."""
    adjoint: dict[int, Real] = {}
    for y, bar in zip(outputs, cotangents):
        if isinstance(y, Scalar):
            adjoint[y.id] = adjoint.get(y.id, 0.0) + bar
    stop = {x.id for x in inputs}
    for node in reversed(reachable(outputs)):
        bar = adjoint.get(node.id, 0.0)
        if _is_zero(bar) or node.op in LEAVES or node.id in stop:
            continue
        if node.op == "select":
            condition, x, y = node.args
            shares = ((x, f.select(condition, bar, 0.0)), (y, f.select(condition, 0.0, bar)))  # type: ignore[arg-type]
        else:
            shares = tuple((a, partial * bar) for a, partial in zip(node.args, _partials(node)))  # type: ignore[assignment]
        for a, share in shares:
            if isinstance(a, Scalar):
                adjoint[a.id] = adjoint.get(a.id, 0.0) + share
    return [adjoint.get(x.id, 0.0) for x in inputs]


def jacobian(outputs: Sequence[Real], directions: Sequence[Mapping[Scalar, Real]]) -> list[list[Real]]:
    """Return the matrix of derivatives of ``outputs`` (rows) along ``directions`` (columns, see :func:`jvp`)."""
    columns = [jvp(outputs, seeds) for seeds in directions]
    return [[column[row] for column in columns] for row in range(len(outputs))]


def _rate(rates: Mapping[int, Real], x: Real) -> Real:
    return rates.get(x.id, 0.0) if isinstance(x, Scalar) else 0.0


def _is_zero(x: Real) -> bool:
    return not isinstance(x, Scalar) and x == 0.0
