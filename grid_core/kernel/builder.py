"""The kernel builder: what an algorithm's ``emit`` function talks to while it is traced."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grid_core.errors import GridError, TraceError, nearest
from grid_core.kernel.kernel import Action, Argument, Kernel, Loop, RowStore, Store
from grid_core.kernel.nesting import Nested, flatten, flatten_any, nest
from grid_core.kernel.settings import TraceSettings, dimensions
from grid_core.kernel.tangent import configuration_directions, derivatives, plain_directions
from grid_core.plugins.algorithm import Absent, Algorithm, resolve
from grid_core.trace.scalar import Graph, Real, Scalar, is_truth

if TYPE_CHECKING:
    from grid_core.kernel.tree import TracedTree
    from grid_core.model import Model

CORE = Path(__file__).parents[1]
"""Where code lies that is no plugin's."""


@dataclass
class _Session:
    """What the builders of one kernel share: the graph, the actions so far and the algorithms that may be called."""

    model: Model
    settings: TraceSettings
    algorithms: Mapping[str, Algorithm]
    graph: Graph = field(default_factory=Graph)
    actions: list[Action] = field(default_factory=list)
    arrays: list[Argument] = field(default_factory=list)
    inputs: dict[str, Argument] = field(default_factory=dict)
    calls: dict[tuple[Any, ...], _Called] = field(default_factory=dict)
    stack: list[str] = field(default_factory=list)
    results: dict[str, set[int]] = field(default_factory=dict)
    """Outputs, of callees too, that loops store into: the entries set so far."""
    loops: int = 0
    looping: bool = False
    tree: TracedTree | None = None

    @cached_property
    def dims(self) -> dict[str, int]:
        """Dimensions by the names that declared shapes use."""
        return dimensions(self.model, self.settings)

    def input(self, name: str, size: int, shape: tuple[int, ...], held: bool = False) -> list[Real]:
        """Declare a kernel input and return its scalars."""
        self.inputs.setdefault(name, Argument(name, size, shape, held))
        return [self.graph.node("input", (), (name, i)) for i in range(size)]


class KernelBuilder:
    """Traces one algorithm. Inputs come from :meth:`input`, results go to :meth:`output`.

    Attributes
    ----------
    model : Model
        The robot: joints, bodies, frames, dimensions. Constant data.
    tree : TracedTree
        The robot as scalars: joint transforms, inertias and joint dynamics, constants unless traced as run-time
        parameters.
    settings : TraceSettings
        Build options that change the maths (joint dynamics, run-time parameters).
    """

    def __init__(self, session: _Session, algorithm: Algorithm, arguments: Mapping[str, Nested]) -> None:
        self._session = session
        self._algorithm = algorithm
        self._arguments = arguments
        self.results: dict[str, Nested] = {}

    @property
    def model(self) -> Model:
        return self._session.model

    @property
    def settings(self) -> TraceSettings:
        return self._session.settings

    @property
    def dims(self) -> dict[str, int]:
        """Dimensions by the names that declared shapes use."""
        return self._session.dims

    @property
    def tree(self) -> TracedTree:
        if self._session.tree is None:
            from grid_core.kernel.tree import TracedTree

            self._session.tree = TracedTree(self._session.model, self._session.settings, self._session.input)
        return self._session.tree

    def has(self, name: str) -> bool:
        """Return whether an optional input is present in the kernel being traced."""
        self._declared_input(name)
        return name in self._arguments

    def input(self, name: str) -> Nested:
        """Return the scalars of a declared input, nested as its shape; zeros if it is absent."""
        declared = self._declared_input(name)
        if name in self._arguments:
            return self._arguments[name]
        return nest([0.0] * prod(shape := resolve(declared.shape, self._session.dims)), shape)

    def output(self, name: str, values: Nested) -> None:
        """Set a declared output from a nested sequence of scalars in its shape."""
        declared = self._declared_output(name)
        shape = resolve(declared.shape, self._session.dims)
        _check_shape(f"{self._algorithm.name}: output {name!r}", values, shape)
        flat = flatten(values, len(shape))
        if any(is_truth(x) for x in flat):
            raise TraceError(
                f"{self._algorithm.name}: output {name!r} is a comparison; select(less(a, b), 1.0, 0.0) is a number"
            )
        self.results[name] = nest(flat, shape)

    def result(self, name: str) -> Slots:
        """Return the slots of a declared output, zero at first, for loops to store into; it replaces :meth:`output`.

        An algorithm that another one calls gets workspace for it.
        """
        self._refuse_in_loop("result")
        declared = self._declared_output(name)
        size = prod(resolve(declared.shape, self._session.dims))
        called = len(self._session.stack) > 1
        slots = self.array(name, [None] * size) if called else Slots(self._session, name, size)
        self._session.results[slots.name] = set()
        self.results[name] = slots
        return slots

    def call(self, name: str, **arguments: Nested) -> Nested:
        """Inline another algorithm and return its output, or a dict of outputs if it has several.

        The callee must be in ``requires`` of the caller. Equal calls are traced once.
        """
        results = _inline(self._session, self._callee(name), arguments).values
        return next(iter(results.values())) if len(results) == 1 else results

    def call_workspace(self, name: str, **arguments: Nested) -> dict[str, Workspace]:
        """Inline another algorithm and return its outputs as workspace, row after row, for loops to read.

        What loops of the callee stored is not copied, which keeps code that works on large results short.
        """
        kept = _inline(self._session, self._callee(name), arguments).kept
        return {
            name: self._completed(values) if isinstance(values, Workspace) else self.array(name, flatten_any(values))
            for name, values in kept.items()
        }

    def _completed(self, slots: Workspace) -> Workspace:
        """Return an output of a callee whose entries that no loop has set are zero."""
        rest = sorted(set(range(slots.size)) - self._session.results[slots.name])
        self.loop([(entry,) for entry in rest], lambda row: row.store(slots, 0, 0.0))
        return slots

    def _callee(self, name: str) -> Algorithm:
        if name not in self._algorithm.requires:
            raise TraceError(
                f"{self._algorithm.name} calls {name!r} without declaring it; add {name!r} to requires "
                "so that dependency edges and build keys stay true"
            )
        callee = self._session.algorithms.get(name)
        if callee is None:
            raise TraceError(
                f"{self._algorithm.name} requires {name!r}, which no plugin provides"
                f"{nearest(name, self._session.algorithms)}"
            )
        return callee

    def jacobian(self, values: Nested, name: str) -> list[list[Real]]:
        """Return the derivative of traced values along an input, by automatic differentiation.

        Parameters
        ----------
        values : nested sequence of scalars
            One row each, in the order in which they are nested; a single scalar is one row.
        name : str
            A declared input. Along a configuration the columns are those of the tangent (nv of them, body frame for
            free bases and spherical joints), along other inputs one per scalar.
        """
        declared, scalars = self._declared_input(name), flatten_any(self.input(name))
        what = f"{self._algorithm.name}: input {name!r}"
        if declared.tangent == "configuration":
            directions = configuration_directions(self.model, scalars, what)
        else:
            directions = plain_directions(scalars, what)
        return derivatives(flatten_any(values), directions)

    @contextmanager
    def section(self, label: str) -> Iterator[None]:
        """Label what is traced inside; generated code carries the label as a comment."""
        graph = self._session.graph
        outer = graph.section
        graph.section = f"{outer}: {label}" if outer else label
        try:
            yield
        finally:
            graph.section = outer

    def array(self, name: str, values: Sequence[Real | None]) -> Workspace:
        """Keep scalars in consecutive workspace slots, so that a :meth:`loop` can address them through a table.

        A slot of None is for a loop to set before anything reads it.
        """
        self._refuse_in_loop("array")
        unique = f"{name}.{len(self._session.arrays)}"  # no output can be called this
        self._session.arrays.append(Argument(unique, len(values), (len(values),)))
        graph = self._session.graph
        order = len(graph.nodes)
        known = ((i, v) for i, v in enumerate(values) if v is not None)
        self._session.actions.extend(Store(unique, i, v, graph.section, order) for i, v in known)
        return Workspace(self._session, unique, len(values))

    def loop(self, table: Sequence[Sequence[int]], body: Callable[[Row], None]) -> None:
        """Trace ``body`` once and run it for every row of a constant integer table.

        A row's loads all happen before its stores.
        """
        self._refuse_in_loop("loop")
        rows = tuple(tuple(int(i) for i in row) for row in table)
        widths = {len(row) for row in rows}
        if len(widths) > 1:
            raise TraceError(f"{self._algorithm.name}: rows of a loop table have different lengths {sorted(widths)}")
        if not rows:
            return
        session = self._session
        row = Row(session, self._algorithm.name, rows)
        first = len(session.graph.nodes)
        session.graph.open_scope()
        session.looping = True
        try:
            body(row)
        finally:
            session.looping = False
            session.graph.close_scope()
        if row.stores:
            loop = Loop(rows, tuple(row.stores), session.graph.section, len(session.graph.nodes), first)
            session.actions += [*self._first_terms(loop), loop]
            session.loops += 1

    def _first_terms(self, loop: Loop) -> Iterator[Store]:
        """Note what a loop sets of the outputs; yield zeros for entries that it adds to before anything else did."""
        for store in loop.stores:
            if store.target in self._session.results:
                known, reached = self._session.results[store.target], set(loop.reached(store))
                if store.accumulate:
                    fresh = sorted(reached - known)
                    yield from (Store(store.target, i, 0.0, loop.section, loop.order) for i in fresh)
                known |= reached

    def _refuse_in_loop(self, what: str) -> None:
        if self._session.looping:
            raise TraceError(
                f"{self._algorithm.name}: k.{what}() inside the body of a loop; a body only loads, computes and stores"
            )

    def _declared_input(self, name: str) -> Any:
        for declared in self._algorithm.inputs:
            if declared.name == name:
                return declared
        known = [i.name for i in self._algorithm.inputs]
        raise TraceError(f"{self._algorithm.name} declares no input {name!r}{nearest(name, known)}")

    def _declared_output(self, name: str) -> Any:
        for declared in self._algorithm.outputs:
            if declared.name == name:
                return declared
        known = [o.name for o in self._algorithm.outputs]
        raise TraceError(f"{self._algorithm.name} declares no output {name!r}{nearest(name, known)}")


@dataclass(frozen=True)
class Slots:
    """A block of slots that loops store into through their table: workspace, or an output."""

    session: _Session
    name: str
    size: int


@dataclass(frozen=True)
class Workspace(Slots):
    """Slots that can also be read."""

    def values(self) -> list[Scalar]:
        """Return what the slots hold now, after the loops traced so far."""
        graph, version = self.session.graph, self.session.loops
        return [graph.node("slot", (), (self.name, i, version)) for i in range(self.size)]


class Row:
    """The current row of a loop while its body is traced."""

    def __init__(self, session: _Session, algorithm: str, table: Sequence[Sequence[int]]) -> None:
        self._session = session
        self._algorithm = algorithm
        self._table = table
        self.stores: list[RowStore] = []

    def load(self, source: Workspace, column: int, offset: int = 0) -> Scalar:
        """Return ``source[offset + table[row][column]]``."""
        self._check(source, column, offset)
        return self._session.graph.node("load", (), (source.name, column, offset))

    def store(self, target: Slots, column: int, value: Real, offset: int = 0) -> None:
        """Set ``target[offset + table[row][column]]``."""
        self._check(target, column, offset)
        self.stores.append(RowStore(target.name, column, offset, value, False))

    def accumulate(self, target: Slots, column: int, value: Real, offset: int = 0) -> None:
        """Add to ``target[offset + table[row][column]]``."""
        self._check(target, column, offset)
        self.stores.append(RowStore(target.name, column, offset, value, True))

    def _check(self, array: Slots, column: int, offset: int) -> None:
        width = len(self._table[0])
        if not 0 <= column < width:
            raise TraceError(f"{self._algorithm}: loop table has {width} columns, column {column} does not exist")
        for row in self._table:
            if not 0 <= offset + row[column] < array.size:
                raise TraceError(
                    f"{self._algorithm}: a loop reaches slot {offset + row[column]} of an array with {array.size} "
                    f"(offset {offset}, column {column} of row {tuple(row)})"
                )


def trace_algorithm(
    algorithm: Algorithm,
    model: Model,
    algorithms: Mapping[str, Algorithm],
    settings: TraceSettings | None = None,
    absent: frozenset[str] = frozenset(),
) -> Kernel:
    """Trace an algorithm for a robot.

    Parameters
    ----------
    absent : frozenset of str
        Optional inputs with ``Absent.VARIANT`` that the kernel is traced without.
    """
    session = _Session(model, settings or TraceSettings(), algorithms)
    arguments = {}
    for declared in algorithm.inputs:
        if declared.name not in absent:
            shape = resolve(declared.shape, session.dims)
            arguments[declared.name] = nest(session.input(declared.name, prod(shape), shape, declared.held), shape)
    results = _inline(session, algorithm, arguments).values
    outputs = []
    for output in algorithm.outputs:
        shape = resolve(output.shape, session.dims)
        outputs.append(Argument(output.name, prod(shape), shape))
        if not isinstance(results[output.name], Slots):
            session.actions.extend(_stores(session.graph, output.name, flatten(results[output.name], len(shape))))
    name = algorithm.name + "".join(f"_without_{n}" for n in sorted(absent))
    kernel = Kernel(
        name,
        tuple(session.inputs.values()),
        tuple(outputs),
        tuple(session.arrays),
        tuple(session.actions),
        session.graph,
    )
    if session.loops and any(node.op == "load" for node in kernel.nodes()):
        raise TraceError(
            f"{algorithm.name}: a value that row.load() gave is used outside its loop; store it in an array and read "
            "that with values()"
        )
    return kernel


def _stores(graph: Graph, name: str, values: Sequence[Real]) -> Iterator[Store]:
    """Yield the stores of an output. Entries that nothing sets are zero."""
    for index, value in enumerate(values):
        if isinstance(value, Scalar) or value != 0.0:
            section = value.section if isinstance(value, Scalar) else ""
            yield Store(name, index, value, section, len(graph.nodes))


def variants(algorithm: Algorithm) -> list[frozenset[str]]:
    """Return the sets of absent inputs that get a kernel of their own, the fullest signature first."""
    sets = [frozenset[str]()]
    for declared in algorithm.inputs:
        if declared.absent is Absent.VARIANT:
            sets += [s | {declared.name} for s in sets]
    return sets


@dataclass(frozen=True)
class _Called:
    """The outputs of an algorithm: as scalars, and as they are kept, workspace where loops stored them."""

    values: dict[str, Nested]
    kept: dict[str, Nested]


def _inline(session: _Session, algorithm: Algorithm, arguments: Mapping[str, Nested]) -> _Called:
    _check_arguments(algorithm, arguments, session.dims)
    arguments = {**_defaults(algorithm, session.dims), **arguments}
    key = (algorithm.name, *((n, tuple(map(_identity, flatten_any(a)))) for n, a in sorted(arguments.items())))
    if key in session.calls:
        return session.calls[key]
    if algorithm.name in session.stack:
        raise TraceError(f"algorithms call each other in a circle: {' -> '.join([*session.stack, algorithm.name])}")
    session.stack.append(algorithm.name)
    builder = KernelBuilder(session, algorithm, arguments)
    if algorithm.emit is None:
        raise TraceError(f"{algorithm.name} only calls {', '.join(algorithm.requires)}; call one of those")
    try:
        algorithm.emit(builder)
    except GridError:
        raise
    except Exception as error:
        raise TraceError(f"{algorithm.name}: emit() failed: {_told(error)}") from error
    session.stack.pop()
    missing = [o.name for o in algorithm.outputs if o.name not in builder.results]
    if missing:
        raise TraceError(
            f"{algorithm.name}: emit() returned without setting output {missing[0]!r}; "
            f"call k.output({missing[0]!r}, ...)"
        )
    values = kept = builder.results
    if session.stack:
        shapes = {o.name: resolve(o.shape, session.dims) for o in algorithm.outputs}
        values = {name: _read(session, slots, shapes[name]) for name, slots in kept.items()}
    session.calls[key] = _Called(values, kept)
    return session.calls[key]


def _told(error: Exception) -> str:
    """Return what went wrong in the code of a plugin, and in which line of it."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not Path(f.filename).is_relative_to(CORE)]
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}; correct that line"


def _read(session: _Session, values: Nested, shape: Sequence[int]) -> Nested:
    """Return the scalars of a result; of one that loops stored into, those that they reached."""
    if not isinstance(values, Workspace):
        return values
    reached = session.results[values.name]
    return nest([x if i in reached else 0.0 for i, x in enumerate(values.values())], shape)


def _defaults(algorithm: Algorithm, dims: Mapping[str, int]) -> dict[str, Nested]:
    """Return what a call without them means for inputs with a default value, as it does in Python."""
    found = {}
    for declared in algorithm.inputs:
        if declared.default is not None:
            shape = resolve(declared.shape, dims)
            slots = range(prod(shape)) if declared.scalar_slot is None else (declared.scalar_slot,)
            found[declared.name] = nest([declared.default if i in slots else 0.0 for i in range(prod(shape))], shape)
    return found


def _check_arguments(algorithm: Algorithm, arguments: Mapping[str, Nested], dims: Mapping[str, int]) -> None:
    unknown = set(arguments) - {i.name for i in algorithm.inputs}
    if unknown:
        raise TraceError(
            f"{algorithm.name} has no input {min(unknown)!r}; it takes {[i.name for i in algorithm.inputs]}"
        )
    for declared in algorithm.inputs:
        if declared.name in arguments:
            shape = resolve(declared.shape, dims)
            _check_shape(f"{algorithm.name}: input {declared.name!r}", arguments[declared.name], shape)
        elif not declared.optional:
            raise TraceError(f"{algorithm.name} is called without its input {declared.name!r}; pass {declared.name}=")


def _check_shape(what: str, values: Nested, shape: tuple[int, ...]) -> None:
    if not _fits(values, shape):
        raise TraceError(f"{what} has lengths {_lengths(values)}, expected nested sequences of shape {shape}")


def _fits(values: Nested, shape: tuple[int, ...]) -> bool:
    if not shape:
        return not hasattr(values, "__len__")
    return hasattr(values, "__len__") and len(values) == shape[0] and all(_fits(v, shape[1:]) for v in values)


def _lengths(values: Nested) -> tuple[int, ...]:
    """Return the lengths of a nested sequence, followed along its longest entries."""
    if isinstance(values, str) or not hasattr(values, "__len__"):
        return ()
    return (len(values), *max((_lengths(v) for v in values), default=()))


def _identity(x: Real) -> float | int:
    return id(x) if isinstance(x, Scalar) else x
