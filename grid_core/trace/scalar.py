"""Symbolic scalars with constant folding and common-subexpression elimination.

A :class:`Scalar` is a node of a :class:`Graph`. Constants are plain Python floats and never enter the graph by
themselves, so that ``0.0 * x`` is ``0.0`` and structural zeros of a robot vanish while an algorithm is being traced.
Arithmetic on scalars builds nodes; equal nodes are built once.

Nodes are numbered in creation order, which is a topological order. Everything that walks a graph relies on it, and it
makes generated code independent of hash seeds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grid_core.errors import TraceError

COMMUTATIVE = frozenset({"add", "mul", "min", "max", "eq"})
COMPARISONS = frozenset({"lt", "le", "eq"})
"""Operations with a truth value, which is no number: it may only choose in ``select``."""


class Scalar:
    """A symbolic real number: an operation and its arguments.

    Attributes
    ----------
    op : str
        Operation name; ``"input"`` and ``"load"`` are leaves.
    args : tuple
        Scalars and floats.
    data : Any
        What a leaf refers to, ``None`` for operations.
    id : int
        Position in the graph, a topological order.
    section : str
        What the algorithm was doing when it made the node; a comment in generated code.
    """

    __slots__ = ("args", "data", "graph", "id", "op", "section")

    def __init__(self, graph: Graph, op: str, args: tuple[Real, ...], data: Any, number: int) -> None:
        self.graph = graph
        self.op = op
        self.args = args
        self.data = data
        self.id = number
        self.section = graph.section

    def __add__(self, other: Real) -> Real:
        return add(self, other)

    def __radd__(self, other: Real) -> Real:
        return add(other, self)

    def __sub__(self, other: Real) -> Real:
        return sub(self, other)

    def __rsub__(self, other: Real) -> Real:
        return sub(other, self)

    def __mul__(self, other: Real) -> Real:
        return mul(self, other)

    def __rmul__(self, other: Real) -> Real:
        return mul(other, self)

    def __truediv__(self, other: Real) -> Real:
        return div(self, other)

    def __rtruediv__(self, other: Real) -> Real:
        return div(other, self)

    def __neg__(self) -> Real:
        return neg(self)

    def __pow__(self, exponent: int) -> Real:
        return power(self, exponent)

    def __bool__(self) -> bool:
        raise TraceError(
            "a symbolic scalar has no truth value: a kernel runs the same operations for every sample. "
            "Use select(less(a, b), x, y) instead of 'x if a < b else y'"
        )

    def __lt__(self, other: Real) -> bool:
        return bool(self)

    __le__ = __gt__ = __ge__ = __lt__

    def __float__(self) -> float:
        raise TraceError(
            "a symbolic scalar has no value while an algorithm is traced, so that functions of math and NumPy cannot "
            "take it; use those of grid_core.trace, such as sin(x)"
        )

    def __repr__(self) -> str:
        if self.op == "input":
            return f"{self.data[0]}[{self.data[1]}]"
        return f"{self.op}#{self.id}"


Real = Scalar | float
"""What algorithms compute with: a symbolic scalar or a constant."""


class Graph:
    """The nodes of one kernel, in creation order.

    ``section`` labels new nodes; a kernel builder moves it along.
    """

    def __init__(self) -> None:
        self.nodes: list[Scalar] = []
        self.section = ""
        self._known: list[dict[tuple[Any, ...], Scalar]] = [{}]

    def node(self, op: str, args: tuple[Real, ...], data: Any = None) -> Scalar:
        """Return the node of this operation, building it unless it exists."""
        if op in COMMUTATIVE and _rank(args[0]) > _rank(args[1]):
            args = (args[1], args[0])
        key = (op, *args, data)
        for scope in self._known:
            found = scope.get(key)
            if found is not None:
                return found
        made = Scalar(self, op, args, data, len(self.nodes))
        self.nodes.append(made)
        self._known[-1][key] = made
        return made

    def open_scope(self) -> None:
        """Nodes made from here on are forgotten by :meth:`close_scope`: a loop body must not leak into what follows."""
        self._known.append({})

    def close_scope(self) -> None:
        self._known.pop()


def _rank(x: Real) -> int:
    return x.id if isinstance(x, Scalar) else -1


def _graph(*args: Real) -> Graph:
    graphs = {x.graph for x in args if isinstance(x, Scalar)}
    if len(graphs) != 1:
        raise TraceError(
            "scalars of two kernels meet in one expression; use k.call to bring in another algorithm's result"
        )
    return graphs.pop()


def operation(op: str, *args: Real) -> Scalar:
    """Build the node ``op(*args)`` without any folding; at least one argument is symbolic.

    A constant minus zero is taken as zero: the two have one key, and which came first must not matter.
    """
    if [is_truth(x) for x in args] != [op == "select"] + [False] * (len(args) - 1):
        raise TraceError(
            f"{op} of {', '.join(map(repr, args))}: comparisons give truth values, which are no numbers; choose "
            "between numbers with select(less(a, b), x, y)"
        )
    return _graph(*args).node(op, tuple(x if isinstance(x, Scalar) else float(x) + 0.0 for x in args))


def is_zero(x: Real) -> bool:
    """Return whether a scalar is the constant zero."""
    return not isinstance(x, Scalar) and x == 0.0


def is_truth(x: Real) -> bool:
    """Return whether a scalar is the result of a comparison."""
    return isinstance(x, Scalar) and x.op in COMPARISONS


def add(x: Real, y: Real) -> Real:
    if not isinstance(x, Scalar):
        if not isinstance(y, Scalar):
            return x + y
        x, y = y, x
    if not isinstance(y, Scalar):
        return x if y == 0.0 else _add_constant(x, float(y))
    if y.op == "neg":
        return sub(x, y.args[0])
    if x.op == "neg":
        return sub(y, x.args[0])
    return operation("add", x, y)


def _add_constant(x: Scalar, c: float) -> Real:
    if x.op == "add" and not isinstance(x.args[0], Scalar):
        return add(x.args[1], x.args[0] + c)
    return operation("add", c, x)


def sub(x: Real, y: Real) -> Real:
    if x is y:
        return 0.0
    if not isinstance(y, Scalar):
        return add(x, -float(y))
    if not isinstance(x, Scalar):
        return neg(y) if x == 0.0 else operation("sub", x, y)
    if y.op == "neg":
        return add(x, y.args[0])
    if x.op == "neg":
        return neg(add(x.args[0], y))
    return operation("sub", x, y)


def mul(x: Real, y: Real) -> Real:
    if not isinstance(x, Scalar):
        if not isinstance(y, Scalar):
            return x * y
        x, y = y, x
    if not isinstance(y, Scalar):
        return _scale(float(y), x)
    if x.op == "neg":
        return neg(mul(x.args[0], y))
    if y.op == "neg":
        return neg(mul(x, y.args[0]))
    return operation("mul", x, y)


def _scale(c: float, x: Scalar) -> Real:
    if c == 0.0:
        return 0.0
    if c == 1.0:
        return x
    if c == -1.0:
        return neg(x)
    if x.op == "neg":
        return mul(-c, x.args[0])
    if x.op == "mul" and not isinstance(x.args[0], Scalar):
        return mul(c * x.args[0], x.args[1])
    return operation("mul", c, x)


def div(x: Real, y: Real) -> Real:
    if not isinstance(y, Scalar):
        if y == 0.0:
            raise TraceError("division by the constant zero while tracing; guard it with select() or drop the term")
        return x / y if not isinstance(x, Scalar) else mul(1.0 / y, x)
    if is_zero(x):
        return 0.0
    if y.op == "neg":
        return neg(div(x, y.args[0]))
    if isinstance(x, Scalar) and x.op == "neg":
        return neg(div(x.args[0], y))
    return operation("div", x, y)


def neg(x: Real) -> Real:
    if not isinstance(x, Scalar):
        return -x
    if x.op == "neg":
        return x.args[0]
    if x.op == "sub":
        return sub(x.args[1], x.args[0])
    if x.op == "mul" and not isinstance(x.args[0], Scalar):
        return mul(-x.args[0], x.args[1])
    return operation("neg", x)


def power(x: Real, exponent: int) -> Real:
    """Return a whole power, as few products as squaring takes."""
    if not isinstance(exponent, int):
        raise TraceError(f"{x!r} ** {exponent!r}: only whole powers; sqrt(x), or exp({exponent!r} * log(x)) for x > 0")
    if exponent < 0:
        return div(1.0, power(x, -exponent))
    if exponent < 2:
        return x if exponent else 1.0
    half = power(x, exponent // 2)
    return mul(mul(half, half), x) if exponent % 2 else mul(half, half)


def reachable(roots: Iterable[Real], first: int = 0) -> list[Scalar]:
    """Return every node from number ``first`` on that the roots depend on through such nodes, in creation order."""
    seen: dict[int, Scalar] = {}
    stack = [x for x in roots if isinstance(x, Scalar) and x.id >= first]
    while stack:
        node = stack.pop()
        if node.id not in seen:
            seen[node.id] = node
            stack.extend([a for a in node.args if isinstance(a, Scalar) and a.id >= first and a.id not in seen])
    return [seen[number] for number in sorted(seen)]
