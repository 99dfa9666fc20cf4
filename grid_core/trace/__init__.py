"""Symbolic scalars: the language in which algorithms are written, and the transforms on it."""

from grid_core.trace.autodiff import jacobian, jvp, vjp
from grid_core.trace.functions import (
    atan2,
    cos,
    equal,
    exp,
    fabs,
    less,
    less_equal,
    log,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    tanh,
)
from grid_core.trace.scalar import Graph, Real, Scalar

__all__ = [
    "Graph",
    "Real",
    "Scalar",
    "atan2",
    "cos",
    "equal",
    "exp",
    "fabs",
    "jacobian",
    "jvp",
    "less",
    "less_equal",
    "log",
    "maximum",
    "minimum",
    "select",
    "sin",
    "sqrt",
    "tanh",
    "vjp",
]
