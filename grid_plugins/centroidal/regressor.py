"""Regressors of inverse and forward dynamics: joint forces are linear in the inertial parameters, ``tau = Y pi``.

An entry of ``Y`` is the power of a parameter's wrench (:mod:`grid_plugins.centroidal.field`) on the virtual motion of
one coordinate; one of ``M^-1 Y`` its power on the motion of the rates in a row of ``M^-1``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grid_core.kernel.builder import KernelBuilder, Row
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.linalg import matvec, minus
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Motion, Transform
from grid_plugins.centroidal.field import Field, body_fields
from grid_plugins.centroidal.looping import flat_pose, load, pose_of, store
from grid_plugins.centroidal.signature import F_EXT, GRAVITY, QD, QDD, REGRESSOR, Q, U
from grid_plugins.centroidal.virtual import Rates, unit_rates, virtual_motions

WRITTEN_OUT = 300
"""Most pairs of a row of rates and a body that are written out: 24 thousand operations for a quadruped's 234."""


def emit_inverse_dynamics_regressor(k: KernelBuilder) -> None:
    transforms = [k.tree.transform(i, k.input("q")) for i in range(k.model.nb)]
    fields = body_fields(k, transforms, k.input("qd"), k.input("qdd"), k.input("gravity"))
    k.output("regressor", powers(k, transforms, fields, unit_rates(k.model.nv)))


def powers(
    k: KernelBuilder, transforms: Sequence[Transform], fields: Iterator[Field], rates: Rates
) -> list[list[Real]]:
    """Return, per row of rates, the powers of every body's parameters on the virtual motion at these rates."""
    found: list[list[Real]] = [[] for _ in rates]
    for motions, joint in zip(virtual_motions(k.tree, transforms, rates), k.model.joints):
        field = next(fields)
        with k.section(f"powers on {joint.name}"):
            for row, s in zip(found, motions):
                row.extend(field.powers(s))
    return found


def emit_forward_dynamics_parameter_gradient(k: KernelBuilder) -> None:
    q, qd, gravity = k.input("q"), k.input("qd"), k.input("gravity")
    wrenches = {"f_ext": k.input("f_ext")} if k.has("f_ext") else {}
    minv = k.call("minv", q=q)
    force = minus(tuple(k.input("u")), tuple(k.call("inverse_dynamics", q=q, qd=qd, gravity=gravity, **wrenches)))
    rates = [[-x for x in row] for row in minv]
    transforms = [k.tree.transform(i, q) for i in range(k.model.nb)]
    fields = body_fields(k, transforms, qd, matvec(minv, force), gravity)
    if k.model.nv * k.model.nb <= WRITTEN_OUT:
        k.output("gradient", powers(k, transforms, fields, rates))
    else:
        loop_powers(k, "gradient", transforms, fields, rates)


def loop_powers(
    k: KernelBuilder, output: str, transforms: Sequence[Transform], fields: Iterator[Field], rates: Rates
) -> None:
    """Set an output to the powers of every body's parameters by loops over rows of rates and bodies.

    A motion is carried from the parent and takes up one column of the joint after the other; columns after the first
    find it where it is, in the pose that changes nothing.
    """
    nv, nb = k.model.nv, k.model.nb
    columns = [(body, slot, s) for body, own in enumerate(k.tree.columns) for slot, s in own]
    bodies = k.array("fields", [x for field in fields for x in field.flat()])
    poses = k.array("poses", [x for pose in (*transforms, Transform()) for x in flat_pose(pose)])
    axes = k.array("axes", [x for _, _, s in columns for x in s.flat()])
    turning = k.array("rates", [x for row in rates for x in row])
    motions = k.array("motions", [None] * (6 * nv * nb) + [0.0] * 6)
    gradient = k.result(output)

    def carry(row: Row) -> None:
        own = Motion.of(load(row, axes, 3, 6)) * row.load(turning, 4)
        carried = pose_of(load(row, poses, 2, 12)).motion_to_child(Motion.of(load(row, motions, 0, 6)))
        store(row, motions, 1, (carried + own).flat())

    def power(row: Row) -> None:
        s, field = Motion.of(load(row, motions, 0, 6)), Field.of(load(row, bodies, 1, 12))
        store(row, gradient, 2, field.powers(s))

    def at(i: int, body: int) -> int:
        return 6 * (nv * body + i) if body >= 0 else 6 * nv * nb

    table = []
    for n, (body, slot, _) in enumerate(columns):
        first = n == 0 or columns[n - 1][0] != body
        origin, pose = (k.tree.parents[body], body) if first else (body, nb)
        table += [(at(i, origin), at(i, body), 12 * pose, 6 * n, nv * i + slot) for i in range(nv)]
    with k.section("virtual motions and their powers"):
        k.loop(table, carry)
        k.loop([(at(i, b), 12 * b, 10 * (nb * i + b)) for b in range(nb) for i in range(nv)], power)


ALGORITHMS = (
    Algorithm(
        name="inverse_dynamics_regressor",
        family="centroidal",
        summary="Inverse dynamics per unit of each inertial parameter: tau = Y pi.",
        inputs=(Q, QD, QDD, GRAVITY),
        outputs=(Output("regressor", REGRESSOR, "Y, ten columns per body in the order of inertia_params"),),
        emit=emit_inverse_dynamics_regressor,
        profiles=("regressor", "fd-param-gradient"),
        notes="pi is inertia_params, body by body. Joint friction, rotor inertia and external wrenches come on top.",
        source="Atkeson, An and Hollerbach, Estimation of inertial parameters of manipulator loads and links, 1986",
    ),
    Algorithm(
        name="forward_dynamics_parameter_gradient",
        family="centroidal",
        summary="Derivative of forward dynamics by the inertial parameters at fixed u: d qdd/d pi = -M^-1 Y.",
        inputs=(Q, QD, U, GRAVITY, F_EXT),
        outputs=(Output("gradient", REGRESSOR, "d qdd/d pi, ten columns per body in the order of inertia_params"),),
        emit=emit_forward_dynamics_parameter_gradient,
        requires=("inverse_dynamics", "minv"),
        profiles=("fd-param-gradient",),
        source="Atkeson, An and Hollerbach, 1986; the implicit function theorem on tau = Y pi",
    ),
)
