"""Writes traced scalars as C++ expressions over a value type ``V`` with scalar type ``T``."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

from grid_core.trace.scalar import Real, Scalar

SUM, PRODUCT, UNARY, ATOM = 1, 2, 3, 4
INFIX = {"add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", PRODUCT), "div": ("/", PRODUCT)}
COMPARISON = {"lt": "<", "le": "<=", "eq": "=="}
CALL = {"sqrt", "sin", "cos", "exp", "log", "tanh", "atan2", "abs", "min", "max"}

Name = Callable[[Scalar], str]


class Writer:
    """Writes expressions of one function; ``inlined`` nodes are written in place, all others by name.

    Names are numbered as they come, so that they are short: they are a large part of what a compiler reads. Inputs that
    are ``held`` may be of type ``T``: one value for all samples.
    """

    def __init__(self, inlined: frozenset[int], arrays: Mapping[str, int], held: Collection[str] = ()) -> None:
        self.inlined = inlined
        self.arrays = arrays
        self.held = held
        self._numbers: dict[int, int] = {}

    def inside(self, inlined: frozenset[int]) -> Writer:
        """Return the writer of a block of the same function, where other nodes are written in place."""
        inner = Writer(inlined, self.arrays, self.held)
        inner._numbers = self._numbers
        return inner

    def name(self, node: Scalar) -> str:
        if node.op == "input":
            return f"{node.data[0]}[{node.data[1]}]"
        return self.local(node.id)

    def local(self, node: int) -> str:
        """Return the name of the variable for a node."""
        return f"x{self._numbers.setdefault(node, len(self._numbers))}"

    def value(self, x: Real) -> str:
        """Return an expression of type ``V``."""
        if not isinstance(x, Scalar):
            return "V{}" if x == 0.0 else f"gm::broadcast<V>({constant(x)})"
        if x.op == "input" and x.data[0] in self.held:
            return f"gm::spread<V>({self.name(x)})"
        return self._term(x, 0)

    def definition(self, node: Scalar) -> str:
        """Return the expression that computes a node, whether or not it is inlined elsewhere."""
        return self._write(node)[0]

    def _term(self, x: Real, level: int) -> str:
        """Return ``x`` as an operand of an operator of the given level."""
        if not isinstance(x, Scalar):
            return constant(x)
        if x.op == "input" or x.id not in self.inlined:
            return self.name(x)
        text, own = self._write(x)
        return text if own >= level else f"({text})"

    def _write(self, node: Scalar) -> tuple[str, int]:
        op, args = node.op, node.args
        if op in INFIX:
            sign, level = INFIX[op]
            right = level + 1 if op in ("sub", "div") else level
            return f"{self._term(args[0], level)} {sign} {self._term(args[1], right)}", level
        if op == "neg":
            return f"-{self._term(args[0], UNARY)}", UNARY
        if op in COMPARISON:
            return f"({self.value(args[0])} {COMPARISON[op]} {self.value(args[1])})", ATOM
        if op in CALL or op == "select":
            return f"gm::{op}({', '.join(self.value(a) for a in args)})", ATOM
        if op == "slot":
            return f"ws[{self.arrays[node.data[0]] + node.data[1]}]", ATOM
        if op == "load":
            array, column, offset = node.data
            return f"ws[{self.arrays[array] + offset} + at[{column}]]", ATOM
        raise AssertionError(op)


def constant(x: float) -> str:
    """Return an atom of type ``T`` that is the same number; infinities and NaN have no literal."""
    if math.isnan(x):
        return 'T(__builtin_nan(""))'
    if math.isinf(x):
        return "T(__builtin_inf())" if x > 0.0 else "T(-__builtin_inf())"
    return f"T({float(x)!r})"
