"""Automatic differentiation as a transform of the traced graph: new nodes for derivatives, shared with the primal ones.

Forward mode (:func:`jvp`) follows branches exactly: the derivative of ``select`` is the selection of the derivatives,
so a branch that is not taken cannot inject a NaN. Reverse mode (:func:`vjp`) is cheaper for few outputs; what is used
in one branch only contributes under the condition of that branch (Griewank and Walther, Evaluating Derivatives, 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from grid_core.errors import TraceError
from grid_core.trace import functions as f
from grid_core.trace.scalar import Real, Scalar, is_zero, reachable

Partials = Callable[[Scalar], tuple[Real, ...]]

Guard = tuple[tuple[Scalar, bool], ...]
"""Conditions, and what they are where a value is used, outermost first."""


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
CHOOSING = frozenset({"select", "min", "max"})
"""Operations that return one of two arguments."""

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
            rate = 0.0 if is_zero(dx) and is_zero(dy) else f.select(condition, dx, dy)  # type: ignore[arg-type]
        else:
            moving = [_rate(rates, a) for a in node.args]
            if all(is_zero(r) for r in moving):
                continue
            rate = 0.0
            for partial, r in zip(_partials(node), moving):
                rate = rate + partial * r
        if not is_zero(rate):
            rates[node.id] = rate
    return [_rate(rates, y) for y in outputs]


def vjp(outputs: Sequence[Real], cotangents: Sequence[Real], inputs: Sequence[Scalar]) -> list[Real]:
    """Return the gradient of ``sum(cotangents * outputs)`` along each of ``inputs``."""
    adjoint: dict[int, Real] = {}
    guards: dict[int, Guard] = {}
    for y, bar in zip(outputs, cotangents):
        if isinstance(y, Scalar):
            adjoint[y.id] = adjoint.get(y.id, 0.0) + bar
            guards[y.id] = ()
    stop = {x.id for x in inputs}
    for node in reversed(reachable(outputs)):
        bar = adjoint.get(node.id, 0.0)
        if is_zero(bar) or node.op in LEAVES or node.id in stop:
            continue
        for a, share, guard in _shares(node, bar, guards[node.id]):
            if isinstance(a, Scalar) and not is_zero(share):
                adjoint[a.id] = adjoint.get(a.id, 0.0) + share
                guards[a.id] = _common(guards.get(a.id, guard), guard)
    return [adjoint.get(x.id, 0.0) for x in inputs]


def _shares(node: Scalar, bar: Real, guard: Guard) -> Iterator[tuple[Real, Real, Guard]]:
    """Yield the arguments of a node, what each gets of its adjoint, and where they are used for it."""
    if node.op in CHOOSING:
        condition, x, y = _choice(node)
        yield x, f.select(condition, bar, 0.0), (*guard, (condition, True))
        yield y, f.select(condition, 0.0, bar), (*guard, (condition, False))
        return
    for a, partial in zip(node.args, _partials(node)):
        yield a, _under(guard, partial * bar) if isinstance(partial, Scalar) else partial * bar, guard


def _choice(node: Scalar) -> tuple[Scalar, Real, Real]:
    """Return the condition under which a node is its first alternative, and both alternatives."""
    if node.op == "select":
        return node.args  # type: ignore[return-value]
    x, y = node.args
    return f.less_equal(x, y) if node.op == "min" else f.less_equal(y, x), x, y  # type: ignore[return-value]


def _under(guard: Guard, share: Real) -> Real:
    """Return a share where its conditions hold, and zero elsewhere, where it may not be finite."""
    for condition, holds in reversed(guard):
        share = f.select(condition, share, 0.0) if holds else f.select(condition, 0.0, share)
    return share


def _common(a: Guard, b: Guard) -> Guard:
    """Return the conditions that two uses share."""
    length = next((i for i, (p, q) in enumerate(zip(a, b)) if p != q), min(len(a), len(b)))
    return a[:length]


def jacobian(outputs: Sequence[Real], directions: Sequence[Mapping[Scalar, Real]]) -> list[list[Real]]:
    """Return the matrix of derivatives of ``outputs`` (rows) along ``directions`` (columns, see :func:`jvp`)."""
    columns = [jvp(outputs, seeds) for seeds in directions]
    return [[column[row] for column in columns] for row in range(len(outputs))]


def _rate(rates: Mapping[int, Real], x: Real) -> Real:
    return rates.get(x.id, 0.0) if isinstance(x, Scalar) else 0.0
