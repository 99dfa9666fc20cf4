"""Writes a loop over a table as C++ statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from grid_core.codegen.expression import Writer
from grid_core.codegen.layout import Layout
from grid_core.kernel.kernel import Loop, RowStore
from grid_core.trace.scalar import COMPARISONS


def write_loop(
    loop: Loop, outside: Writer, layouts: Mapping[str, Layout], dealt_before: int | None = None
) -> Iterator[str]:
    """Yield the table and the loop over it.

    Parameters
    ----------
    outside : Writer
        Of the function that the loop is in.
    layouts : mapping of str to Layout
        Where the entries of outputs are kept.
    dealt_before : int, optional
        The rows are dealt one by one to ``workers``, a power of two, of which this is number ``worker``. As many rows
        of other loops were dealt before. By default all rows are run.
    """
    body = loop.body()
    masks = frozenset(n.id for n in (*body, *loop.captured()) if n.op in COMPARISONS)
    writer = outside.inside(masks)
    columns = [list(column) for column in zip(*loop.table)]
    stores: dict[str, None] = {}  # entries that share a place get one statement
    for store in loop.stores:
        at = _place(loop, store, columns, layouts) if store.target in layouts else _slot(store, writer.arrays)
        stores[f"{at} {'+=' if store.accumulate else '='} {writer.value(store.value)};"] = None
    rows = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in zip(*columns))
    yield "{"
    yield f"    static constexpr int table[{len(loop.table)}][{len(columns)}] = {{{rows}}};"
    if dealt_before is None:
        yield "    for (const auto& at : table) {"
    else:
        turn = f"(worker - {dealt_before}) & (workers - 1)" if dealt_before else "worker"
        yield f"    for (int row = {turn}; row < {len(loop.table)}; row += workers) {{"
        yield "        const auto& at = table[row];"
    for node in body:
        if node.op not in COMPARISONS:
            yield f"        const V {writer.name(node)} = {writer.definition(node)};"
    for statement in stores:
        yield f"        {statement}"
    yield "    }"
    yield "}"


def _slot(store: RowStore, arrays: Mapping[str, int]) -> str:
    return f"ws[{arrays[store.target] + store.offset} + at[{store.column}]]"


def _place(loop: Loop, store: RowStore, columns: list[list[int]], layouts: Mapping[str, Layout]) -> str:
    """Return where a store to an output goes.

    The places follow from a column of the table and a constant; a column is added for those that follow from none yet.
    """
    places = [layouts[store.target].place(index) for index in loop.reached(store)]
    for number in (store.column, *range(len(columns))):
        apart = {place - slot for place, slot in zip(places, columns[number])}
        if len(apart) == 1:
            return f"{store.target}[at[{number}] + {apart.pop()}]"
    columns.append(places)
    return f"{store.target}[at[{len(columns) - 1}]]"
