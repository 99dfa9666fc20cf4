"""The centre of mass, the centroidal momentum matrix, and how the matrix changes while the robot moves.

The momentum about the centre of mass, in world axes, is ``h = A(q) qd`` (Orin and Goswami, "Centroidal momentum matrix
of a humanoid robot", 2008). A column of ``A`` is the momentum of the subtree that a joint coordinate moves.
"""

from __future__ import annotations

from collections.abc import Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.ground import inertia_rate
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.linalg import ZERO3, Vector, cross, dot, matvec, minus, plus, scale
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Force, Inertia, Motion, Symmetric
from grid_plugins.centroidal.posture import Posture
from grid_plugins.centroidal.signature import MOMENTUM_MAP, QD, Q

Rows = list[list[Real]]
Added = tuple[int, Vector]
"""A velocity slot and what is added to its column."""


def emit_com(k: KernelBuilder) -> None:
    posture = Posture(k, k.input("q"))
    k.output("position", plus(posture.ground, posture.centre))
    k.output("jacobian", matrix_of(3, k.model.nv, centre_velocities(posture)))


def centre_velocities(posture: Posture) -> list[Added]:
    """Return per joint column the velocity of the centre of mass."""
    found: list[Added] = []
    for i, columns in enumerate(posture.tree.columns):
        subtree = posture.anchored(i)
        for slot, s in columns:
            moved = subtree.at_point(s)
            velocity = moved.linear
            if not posture.is_base(i):
                velocity = scale((subtree.inertia * moved).linear, posture.inverse_mass)
            found.append((slot, matvec(subtree.rotation, velocity)))
    return found


def emit_ccrba(k: KernelBuilder) -> None:
    posture, qd = Posture(k, k.input("q")), k.input("qd")
    with k.section("momentum of the joint columns"):
        a = matrix_of(6, k.model.nv, [(slot, linear_first(f)) for slot, f in column_momenta(posture)])
    k.output("matrix", a)
    k.output("momentum", [dot(row, qd) for row in a])


def column_momenta(posture: Posture) -> list[tuple[int, Force]]:
    """Return per joint column its momentum about the centre of mass, in world axes."""
    found: list[tuple[int, Force]] = []
    for i, columns in enumerate(posture.tree.columns):
        subtree = posture.anchored(i)
        for slot, s in columns:
            found.append((slot, subtree.about_centre.force_to_parent(subtree.inertia * subtree.at_point(s))))
    return found


def linear_first(f: Force) -> Vector:
    """Return the six numbers in the order of users."""
    return f.linear + f.angular


def matrix_of(rows: int, columns: int, added: Sequence[Added]) -> Rows:
    """Return a matrix from what is added to its columns; mimic joints share those of their targets."""
    m: Rows = [[0.0] * columns for _ in range(rows)]
    for slot, column in added:
        for r, x in enumerate(column):
            m[r][slot] = m[r][slot] + x
    return m


def emit_cmm_time_variation(k: KernelBuilder) -> None:
    posture, qd = Posture(k, k.input("q")), list(k.input("qd"))
    if posture.free:  # a translation of the whole robot changes nothing about its centre of mass
        for slot, s in posture.tree.columns[0]:
            qd[slot] = 0.0 if s.angular == ZERO3 else qd[slot]
    rates = subtree_rates(k, posture, qd)
    velocities = body_velocities(posture, qd)
    drift = centre_velocity(posture, qd)
    added: list[Added] = []
    for i in range(k.model.nb):
        with k.section(f"rates of the columns of {k.model.joints[i].name}"):
            if posture.is_base(i):
                added += _base_rates(posture, rates[0], velocities[0].angular)
            else:
                added += _column_rates(posture, i, rates[i], velocities[i], drift)
    k.output("rate", matrix_of(6, k.model.nv, added))


def subtree_rates(k: KernelBuilder, posture: Posture, qd: Sequence[Real]) -> list[Inertia]:
    """Return how the inertia of each subtree changes in the axes of its body, by the joints inside the subtree."""
    tree = posture.tree
    rates = [Inertia(0.0, ZERO3, (0.0,) * 6) for _ in tree.parents]
    for i in reversed(range(len(rates))):
        parent = tree.parents[i]
        if parent >= 0:
            with k.section(f"change of the subtree of {posture.model.joints[i].name}"):
                moving = rates[i] + inertia_rate(posture.subtrees[i], tree.joint_motion(i, qd))
                rates[parent] = rates[parent] + moving.to_parent(posture.transforms[i])
    return rates


def body_velocities(posture: Posture, qd: Sequence[Real]) -> list[Motion]:
    """Return per body its angular velocity and the velocity of its origin, in world axes."""
    found: list[Motion] = []
    for i, parent in enumerate(posture.tree.parents):
        rotation, own = posture.poses[i].rotation, posture.tree.joint_motion(i, qd)
        w, v = matvec(rotation, own.angular), matvec(rotation, own.linear)
        if parent >= 0:
            carrier = found[parent]
            way = minus(posture.poses[i].translation, posture.poses[parent].translation)
            w, v = plus(carrier.angular, w), plus(v, plus(carrier.linear, cross(carrier.angular, way)))
        found.append(Motion(w, v))
    return found


def centre_velocity(posture: Posture, qd: Sequence[Real]) -> Vector:
    """Return the velocity of the centre of mass."""
    total = ZERO3
    for slot, velocity in centre_velocities(posture):
        total = plus(total, scale(velocity, qd[slot]))
    return total


def _column_rates(posture: Posture, i: int, rate: Inertia, v: Motion, drift: Vector) -> list[Added]:
    """Return the rates of the columns of one joint: of momentum in body axes, turned with the body and moved along."""
    subtree, approach = posture.anchored(i), minus(v.linear, drift)
    found: list[Added] = []
    for slot, s in posture.tree.columns[i]:
        momentum, change = subtree.inertia * s, rate * s
        p, n = matvec(subtree.rotation, momentum.linear), matvec(subtree.rotation, momentum.angular)
        linear = plus(matvec(subtree.rotation, change.linear), cross(v.angular, p))
        angular = plus(matvec(subtree.rotation, change.angular), cross(v.angular, n))
        angular = plus(angular, plus(cross(approach, p), cross(subtree.arm, linear)))
        found.append((slot, linear + angular))
    return found


def _base_rates(posture: Posture, rate: Inertia, w: Vector) -> list[Added]:
    """Return the rates of the columns of a free base, whose momentum is taken about the centre of mass itself."""
    subtree = posture.anchored(0)
    shift = scale(rate.moment, posture.inverse_mass)
    changing = Inertia(0.0, ZERO3, _rate_about_centre(rate, posture.subtrees[0].moment, subtree.offset, shift))
    found: list[Added] = []
    for slot, s in posture.tree.columns[0]:
        moved = subtree.at_point(s)
        p = matvec(subtree.rotation, scale(moved.linear, posture.mass))
        n = matvec(subtree.rotation, (subtree.inertia * Motion(s.angular, ZERO3)).angular)
        linear = plus(matvec(subtree.rotation, cross(s.angular, rate.moment)), cross(w, p))
        angular = plus(matvec(subtree.rotation, (changing * s).angular), cross(w, n))
        found.append((slot, linear + angular))
    return found


def _rate_about_centre(rate: Inertia, moment: Vector, centre: Vector, shift: Vector) -> Symmetric:
    """Return the rate of :func:`~grid_plugins.centroidal.posture.about_centre`; both of its factors move alike."""
    s, h = rate.rotational, rate.moment
    along = 2.0 * dot(h, centre)
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    return tuple(  # type: ignore[return-value]
        s[n] + h[i] * centre[j] + moment[i] * shift[j] - (along if i == j else 0.0) for n, (i, j) in enumerate(pairs)
    )


ALGORITHMS = (
    Algorithm(
        name="com",
        family="centroidal",
        summary="Centre of mass in the world, and its Jacobian along the tangent.",
        inputs=(Q,),
        outputs=(
            Output("position", ("3",), "centre of mass of the moving bodies (m)"),
            Output("jacobian", ("3", "nv"), "its derivative along the tangent"),
        ),
        emit=emit_com,
        notes="The base link of a robot with a fixed base does not count.",
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, section 2.11",
    ),
    Algorithm(
        name="ccrba",
        family="centroidal",
        summary="Centroidal momentum matrix A and momentum h = A qd, linear then angular, about the centre of mass.",
        inputs=(Q, QD),
        outputs=(
            Output("matrix", MOMENTUM_MAP, "A, in world axes (kg, kg m; kg m, kg m^2)"),
            Output("momentum", ("6",), "A qd (kg m/s, kg m^2/s)"),
        ),
        emit=emit_ccrba,
        source="Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot, 2013",
    ),
    Algorithm(
        name="cmm_time_variation",
        family="centroidal",
        summary="Rate of the centroidal momentum matrix, dA/dt = sum_k dA/dq_k qd_k.",
        inputs=(Q, QD),
        outputs=(Output("rate", MOMENTUM_MAP, "dA/dt, rows as in ccrba"),),
        emit=emit_cmm_time_variation,
        notes="The momentum changes by dh/dt = A qdd + dA/dt qd.",
        source="Wensing and Orin, Improved computation of the humanoid centroidal dynamics, 2016",
    ),
)
