"""The derivatives of the regressor as loops over tables, for robots where writing them out would be large.

Three arrays hold what the loops share: views of joint columns, bodies, and per view the changed fields of the body that
it is from. The loops carry the views outwards, form the changed fields, and make ten entries of both derivatives per
triple.
"""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder, Row, Workspace
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Motion
from grid_plugins.centroidal.column_rates import MovingBody, Seen
from grid_plugins.centroidal.field import Field
from grid_plugins.centroidal.looping import flat_pose, load, pose_of, store
from grid_plugins.centroidal.views import Triple, View

VIEW, POSE, FIELD = 21, 12, 12
"""Numbers of a view, a pose and a field in the workspace."""
BODY = POSE + 6 + FIELD
CHANGED = 2 * FIELD


def loop_over(k: KernelBuilder, bodies: Sequence[MovingBody], views: Sequence[View], triples: Sequence[Triple]) -> None:
    """Set both derivatives by loops."""
    seen = k.array("seen", [x for v in views for x in _own(bodies, v)])
    body = k.array("bodies", [x for b in bodies for x in (*flat_pose(b.pose), *b.v.flat(), *b.field.flat())])
    changed = k.array("changed", [None] * (CHANGED * len(views)))

    def carry(row: Row) -> None:
        view = Seen.of(load(row, seen, 0, VIEW)).from_child(pose_of(load(row, body, 2, POSE)))
        store(row, seen, 1, view.flat())

    def change(row: Row) -> None:
        view, v = Seen.of(load(row, seen, 0, VIEW)), Motion.of(load(row, body, 1, 6, POSE))
        store(row, changed, 2, (*view.along_position(v).flat(), *view.along_velocity(v).flat()))

    with k.section("columns seen from all bodies"):
        k.loop([(VIEW * v.parent, VIEW * v.number, BODY * v.body) for v in views if not v.own], carry)
        k.loop([(VIEW * v.number, BODY * v.body, CHANGED * v.number) for v in views], change)
    _powers(k, seen, body, changed, triples)


def _powers(k: KernelBuilder, seen: Workspace, body: Workspace, changed: Workspace, triples: Sequence[Triple]) -> None:
    """Make the entries of every triple. Columns of mimic joints share entries, which the first one sets."""
    dq, dqd = k.result("dq"), k.result("dqd")
    nv, width = k.model.nv, 10 * k.model.nb
    known: set[int] = set()
    tables: dict[tuple[bool, bool], list[list[int]]] = {(more, crossing): [] for more in (False, True)
                                                        for crossing in (False, True)}  # fmt: skip
    for t in triples:
        at = (t.along.slot * nv + t.row.slot) * width + 10 * t.body
        table = tables[at in known, t.crossing]
        table.append([at, VIEW * t.row.number, CHANGED * t.along.number, VIEW * t.along.number, BODY * t.body])
        known.add(at)
    for (more, crossing), table in tables.items():

        def powers(row: Row, more: bool = more, crossing: bool = crossing) -> None:
            s = Motion.of(load(row, seen, 1, 6))
            position = Field.of(load(row, changed, 2, FIELD)).powers(s)
            if crossing:
                turned = s.cross_motion(Motion.of(load(row, seen, 3, 6)))
                still = Field.of(load(row, body, 4, FIELD, POSE + 6))
                position = [x + y for x, y in zip(position, still.powers(turned))]
            velocity = Field.of(load(row, changed, 2, FIELD, FIELD)).powers(s)
            store(row, dq, 0, position, added=more)
            store(row, dqd, 0, velocity, added=more)

        with k.section("powers"):
            k.loop(table, powers)


def _own(bodies: Sequence[MovingBody], view: View) -> Sequence[Real | None]:
    """Return a view from the body whose joint has the column; room for the others, which are carried there."""
    return bodies[view.body].columns[view.column].flat() if view.own else [None] * VIEW
