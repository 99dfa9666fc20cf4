"""The derivatives of the inverse-dynamics regressor along configuration and velocity.

An entry of ``Y`` is the power of a parameter's wrench on a body on the motion of a coordinate above it, so that its
derivatives have one term for each *triple*: a body, the coordinate of the row and the coordinate that moves, both above
the body. Robots with few triples are written out, others loop over tables of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.scalar import Real
from grid_plugins.centroidal.column_rates import MovingBody, Seen, moving_bodies
from grid_plugins.centroidal.regressor_loops import loop_over
from grid_plugins.centroidal.signature import GRAVITY, QD, QDD, Q
from grid_plugins.centroidal.views import Triple, View, triples_of, views_of

Tensor = list[list[list[Real]]]

WRITTEN_OUT = 160
"""Most triples that are written out: a serial arm of seven joints has 140, 20 thousand operations."""


def emit_inverse_dynamics_regressor_gradient(k: KernelBuilder) -> None:
    bodies = moving_bodies(k, k.input("q"), k.input("qd"), k.input("qdd"), k.input("gravity"))
    views = views_of(k.tree)
    triples = triples_of(views)
    (write_out if len(triples) <= WRITTEN_OUT else loop_over)(k, bodies, views, triples)


def write_out(k: KernelBuilder, bodies: Sequence[MovingBody], views: Sequence[View], triples: Sequence[Triple]) -> None:
    """Set both derivatives entry by entry."""
    nv, width = k.model.nv, 10 * k.model.nb
    dq: Tensor = [[[0.0] * width for _ in range(nv)] for _ in range(nv)]
    dqd: Tensor = [[[0.0] * width for _ in range(nv)] for _ in range(nv)]
    seen = seen_from_all(bodies, views)
    for t in triples:
        body, row, along = bodies[t.body], seen[t.row.number], seen[t.along.number]
        with k.section(f"powers on {k.model.joints[t.body].name}"):
            position = along.along_position(body.v).powers(row.s)
            if t.crossing:
                turned = body.field.powers(row.s.cross_motion(along.s))
                position = [x + y for x, y in zip(position, turned)]
            velocity = along.along_velocity(body.v).powers(row.s)
        for target, entries in ((dq, position), (dqd, velocity)):
            line = target[t.along.slot][t.row.slot]
            for p, x in enumerate(entries, 10 * t.body):
                line[p] = line[p] + x
    k.output("dq", dq)
    k.output("dqd", dqd)


def seen_from_all(bodies: Sequence[MovingBody], views: Sequence[View]) -> list[Seen]:
    """Return every view of a joint column."""
    found: list[Seen] = []
    for view in views:
        body = bodies[view.body]
        found.append(body.columns[view.column] if view.own else found[view.parent].from_child(body.pose))
    return found


ALGORITHMS = (
    Algorithm(
        name="inverse_dynamics_regressor_gradient",
        family="centroidal",
        summary="Derivatives of the inverse-dynamics regressor along the tangent and along the velocity.",
        inputs=(Q, QD, QDD, GRAVITY),
        outputs=(
            Output("dq", ("nv", "nv", "10*nb"), "[k] = dY/dq_k"),
            Output("dqd", ("nv", "nv", "10*nb"), "[k] = dY/dqd_k"),
        ),
        emit=emit_inverse_dynamics_regressor_gradient,
        source="Atkeson, An and Hollerbach, 1986; rates of Singh, Russell and Wensing, 2022",
    ),
)
