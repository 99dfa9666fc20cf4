"""Kinetic and potential energy, and their regressors: the energies are linear in the inertial parameters.

Velocities and gravity are carried outwards in body axes, so that no body's place in the world is needed: with ``r`` the
way from the parent's origin, the height ``g.p`` of a body is its parent's and ``g.r``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.tree import TracedTree
from grid_core.plugins.algorithm import Algorithm, Input, Output
from grid_core.trace.linalg import Vector, cross, dot, matvec, plus, scale, transpose, vector
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Inertia, Motion, Transform, dense
from grid_plugins.centroidal.signature import GRAVITY, PARAMETERS, QD, Q

UNUSED_GRAVITY = Input(
    GRAVITY.name,
    GRAVITY.shape,
    "has no influence; accepted so that both energy regressors are called alike",
    default=GRAVITY.default,
    keyword_only=True,
    scalar_slot=GRAVITY.scalar_slot,
)


def emit_energy(k: KernelBuilder) -> None:
    q, qd, gravity = k.input("q"), k.input("qd"), vector(k.input("gravity"))
    tree = k.tree
    kinetic: Real = 0.0
    for inertia, v in zip(tree.lumped_inertias, _velocities(k, q, qd)):
        kinetic = kinetic + _vis_viva(inertia, v)
    for rotor, rate in zip(tree.armature, qd):
        kinetic = kinetic + rotor * rate * rate
    kinetic = 0.5 * kinetic
    potential: Real = -dot(gravity, tree.world_inertia.moment)
    for inertia, (field, height) in zip(tree.lumped_inertias, _gravity(k, q, gravity)):
        potential = potential - (dot(field, inertia.moment) + inertia.mass * height)
    k.output("energy", [kinetic, potential, kinetic + potential])


def _vis_viva(inertia: Inertia, v: Motion) -> Real:
    """Return ``v.(I v)``, twice the kinetic energy of a body."""
    turning = matvec(dense(inertia.rotational), v.angular)
    moving = plus(scale(v.linear, inertia.mass), scale(cross(v.angular, inertia.moment), 2.0))
    return dot(v.angular, turning) + dot(v.linear, moving)


def _velocities(k: KernelBuilder, q: Sequence[Real], qd: Sequence[Real]) -> Iterator[Motion]:
    """Yield the velocity of each body in its own axes."""
    tree = k.tree
    found: list[Motion] = []
    for i, parent in enumerate(tree.parents):
        with k.section(f"velocity of {k.model.joints[i].name}"):
            own = tree.joint_motion(i, qd)
            found.append(tree.transform(i, q).motion_to_child(found[parent]) + own if parent >= 0 else own)
            yield found[i]


def _gravity(k: KernelBuilder, q: Sequence[Real], gravity: Vector) -> Iterator[tuple[Vector, Real]]:
    """Yield gravity in the axes of each body, and its product with the position of the body's origin."""
    tree: TracedTree = k.tree
    found: list[tuple[Vector, Real]] = []
    for i, parent in enumerate(tree.parents):
        with k.section(f"gravity at {k.model.joints[i].name}"):
            local: Transform = tree.transform(i, q)
            field, height = found[parent] if parent >= 0 else (gravity, 0.0)
            found.append((matvec(transpose(local.rotation), field), height + dot(field, local.translation)))
            yield found[i]


def emit_kinetic_energy_regressor(k: KernelBuilder) -> None:
    regressor: list[Real] = []
    for v in _velocities(k, k.input("q"), k.input("qd")):
        x, y, z = v.angular
        inertia = (0.5 * x * x, x * y, x * z, 0.5 * y * y, y * z, 0.5 * z * z)
        regressor += [0.5 * dot(v.linear, v.linear), *cross(v.linear, v.angular), *inertia]
    k.output("regressor", regressor)


def emit_potential_energy_regressor(k: KernelBuilder) -> None:
    regressor: list[Real] = []
    for field, height in _gravity(k, k.input("q"), vector(k.input("gravity"))):
        regressor += [-height, *(-x for x in field), *[0.0] * 6]
    k.output("regressor", regressor)


ALGORITHMS = (
    Algorithm(
        name="energy",
        family="centroidal",
        summary="Kinetic and potential energy and their sum.",
        inputs=(Q, QD, GRAVITY),
        outputs=(Output("energy", ("3",), "kinetic, potential, total (J)"),),
        emit=emit_energy,
        notes="The potential is -m g.c with the centre of mass c, zero at the world's origin. Rotor inertia counts.",
        source="Featherstone, Rigid Body Dynamics Algorithms, 2008, section 2.13",
    ),
    Algorithm(
        name="kinetic_energy_regressor",
        family="centroidal",
        summary="Kinetic energy per unit of each inertial parameter: kinetic energy = y.pi.",
        inputs=(Q, QD, UNUSED_GRAVITY),
        outputs=(Output("regressor", PARAMETERS, "y, ten numbers per body in the order of inertia_params"),),
        emit=emit_kinetic_energy_regressor,
        profiles=("regressor", "energy-regressor"),
        notes="Without rotor inertia, which is not one of the parameters.",
        source="Gautier and Khalil, On the identification of the inertial parameters of robots, 1988",
    ),
    Algorithm(
        name="potential_energy_regressor",
        family="centroidal",
        summary="Potential energy per unit of each inertial parameter: potential energy = y.pi.",
        inputs=(Q, GRAVITY),
        outputs=(Output("regressor", PARAMETERS, "y, ten numbers per body in the order of inertia_params"),),
        emit=emit_potential_energy_regressor,
        profiles=("regressor", "energy-regressor"),
        source="Gautier and Khalil, On the identification of the inertial parameters of robots, 1988",
    ),
)
