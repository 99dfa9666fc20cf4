"""Elementary functions of symbolic scalars. Constants in, constants out."""

from __future__ import annotations

import math
from collections.abc import Callable

from grid_core.errors import TraceError
from grid_core.trace.scalar import Real, Scalar, neg, operation

ODD = frozenset({"sin", "tanh"})
EVEN = frozenset({"cos", "abs"})
CONSTANT: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "exp": math.exp,
    "log": math.log,
    "tanh": math.tanh,
    "abs": abs,
}


def _unary(op: str, x: Real) -> Real:
    if not isinstance(x, Scalar):
        try:
            return float(CONSTANT[op](x))
        except (ValueError, OverflowError) as error:
            raise TraceError(
                f"{op}({x!r}) while tracing: {error}; the argument is a constant outside the domain"
            ) from None
    if x.op == "neg" and op in EVEN:
        return operation(op, x.args[0])
    if x.op == "neg" and op in ODD:
        return neg(operation(op, x.args[0]))
    return operation(op, x)


def sqrt(x: Real) -> Real:
    return _unary("sqrt", x)


def sin(x: Real) -> Real:
    return _unary("sin", x)


def cos(x: Real) -> Real:
    return _unary("cos", x)


def exp(x: Real) -> Real:
    return _unary("exp", x)


def log(x: Real) -> Real:
    return _unary("log", x)


def tanh(x: Real) -> Real:
    return _unary("tanh", x)


def fabs(x: Real) -> Real:
    return _unary("abs", x)


def atan2(y: Real, x: Real) -> Real:
    if not isinstance(x, Scalar) and not isinstance(y, Scalar):
        return math.atan2(y, x)
    return operation("atan2", y, x)


def minimum(x: Real, y: Real) -> Real:
    if not isinstance(x, Scalar) and not isinstance(y, Scalar):
        return x if x < y or math.isnan(x) else y
    return x if x is y else operation("min", x, y)


def maximum(x: Real, y: Real) -> Real:
    if not isinstance(x, Scalar) and not isinstance(y, Scalar):
        return x if x > y or math.isnan(x) else y
    return x if x is y else operation("max", x, y)


def less(x: Real, y: Real) -> Scalar | bool:
    return _compare("lt", x, y)


def less_equal(x: Real, y: Real) -> Scalar | bool:
    return _compare("le", x, y)


def equal(x: Real, y: Real) -> Scalar | bool:
    return _compare("eq", x, y)


def _compare(op: str, x: Real, y: Real) -> Scalar | bool:
    if not isinstance(x, Scalar) and not isinstance(y, Scalar):
        return bool({"lt": x < y, "le": x <= y, "eq": x == y}[op])
    return operation(op, x, y)


def select(condition: Scalar | bool, x: Real, y: Real) -> Real:
    """Return ``x`` where the condition holds and ``y`` elsewhere; the branch not taken never influences the result."""
    if isinstance(condition, bool):
        return x if condition else y
    return x if _same(x, y) else operation("select", condition, x, y)


def _same(x: Real, y: Real) -> bool:
    """Return whether two values are one: the same scalar, or equal constants (whichever objects hold them)."""
    if isinstance(x, Scalar) or isinstance(y, Scalar):
        return x is y
    return x == y and math.copysign(1.0, x) == math.copysign(1.0, y)
