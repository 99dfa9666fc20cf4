"""Wrenches at contacts and tools, given in world axes, as external wrenches on bodies.

A wrench ``[n; f]`` at a point ``r`` of a body with rotation ``R`` is ``[R^T n + r x R^T f; R^T f]`` in the body's axes
about its origin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm, Input, Output
from grid_core.trace.functions import equal, select
from grid_core.trace.linalg import (
    Matrix,
    Vector,
    cross,
    dot,
    madd,
    matmul,
    matvec,
    outer,
    plus,
    skew,
    transpose,
    vector,
)
from grid_core.trace.scalar import Real
from grid_core.trace.spatial import Force
from grid_plugins.kinematics.reading import read_tool_body, read_tool_point
from grid_plugins.kinematics.signature import Q
from grid_plugins.kinematics.skeleton import Skeleton
from grid_plugins.kinematics.targets import ChosenTarget

F_C = Input(
    "f_c", ("6*nc",), "wrench at each contact frame, moment then force, in world axes about its origin (N m, N)"
)
F_EXT = Output(
    "f_ext", ("6*nb",), "external wrench on each body, moment then force, in body axes about its origin (N m, N)"
)


@dataclass(frozen=True)
class Contact:
    """A wrench on a body, in its axes: moment about the contact, force, and where the contact is."""

    body: int
    moment: Vector
    force: Vector
    point: Vector

    @property
    def wrench(self) -> Force:
        return at_origin(self.moment, self.force, self.point)


def at_origin(moment: Vector, force: Vector, point: Vector) -> Force:
    return Force(plus(moment, cross(point, force)), force)


def contacts(k: KernelBuilder, skeleton: Skeleton) -> Iterator[Contact]:
    """Yield the wrenches of the contact frames."""
    given = k.input("f_c")
    for n, frame in enumerate(k.settings.contacts(k.model)):
        with k.section(frame.name):
            back = transpose(skeleton.poses[frame.body].rotation)
            moment, force = (matvec(back, tuple(given[i : i + 3])) for i in (6 * n, 6 * n + 3))
            yield Contact(frame.body, moment, force, vector(frame.placement.translation))


def emit_contact_fext(k: KernelBuilder) -> None:
    totals = [Force.zero()] * k.model.nb
    for contact in contacts(k, Skeleton(k, k.input("q"))):
        totals[contact.body] = totals[contact.body] + contact.wrench
    k.output("f_ext", [x for total in totals for x in total.flat()])


def emit_contact_fext_gradient(k: KernelBuilder) -> None:
    skeleton, nv = Skeleton(k, k.input("q")), k.model.nv
    touched: dict[int, list[Contact]] = {}
    for contact in contacts(k, skeleton):
        touched.setdefault(contact.body, []).append(contact)
    gradient: list[list[Real]] = [[0.0] * nv for _ in range(6 * k.model.nb)]
    for body, group in touched.items():
        with k.section(f"turning {k.model.bodies[body].name}"):
            for slot, column in _turning(skeleton, body, group):
                for r, x in enumerate(column, 6 * body):
                    gradient[r][slot] = gradient[r][slot] + x
    k.output("gradient", gradient)


def _turning(skeleton: Skeleton, body: int, group: list[Contact]) -> Iterator[tuple[int, Vector]]:
    """Yield how the wrench on a body, in its own axes, changes along each velocity slot that turns it.

    The world turns backwards in the body's axes: ``d(R^T x) = (R^T x) x (R^T w)``.
    """
    moments: Matrix = tuple((0.0,) * 3 for _ in range(3))
    force: Vector = (0.0,) * 3
    for contact in group:
        # r x (h x w) = h (r . w) - w (r . h)
        moments = madd(moments, madd(skew(contact.moment), outer(contact.force, contact.point)))
        lever = dot(contact.point, contact.force)
        moments = madd(moments, ((-lever, 0.0, 0.0), (0.0, -lever, 0.0), (0.0, 0.0, -lever)))
        force = plus(force, contact.force)
    back = transpose(skeleton.poses[body].rotation)
    of_moment, of_force = matmul(moments, back), matmul(skew(force), back)
    for i in skeleton.model.ancestors(body):
        for slot, motion in skeleton.columns[i]:
            yield slot, matvec(of_moment, motion.angular) + matvec(of_force, motion.angular)


def emit_tool_fext(k: KernelBuilder) -> None:
    skeleton, body, wrench = Skeleton(k, k.input("q")), k.input("joint"), k.input("wrench")
    carrier = ChosenTarget(skeleton, body)
    back = transpose(carrier.pose.rotation)
    total = at_origin(matvec(back, tuple(wrench[:3])), matvec(back, tuple(wrench[3:])), tuple(k.input("offset")))
    k.output("f_ext", [select(equal(body, float(i)), x, 0.0) for i in range(k.model.nb) for x in total.flat()])


ALGORITHMS = (
    Algorithm(
        name="contact_fext",
        family="kinematics",
        summary="External wrenches on the bodies from wrenches at the contact frames of the build.",
        inputs=(Q, F_C),
        outputs=(F_EXT,),
        emit=emit_contact_fext,
        needs=("contact_frames",),
        notes="The result is what the dynamics take as f_ext.",
    ),
    Algorithm(
        name="contact_fext_gradient",
        family="kinematics",
        summary="Derivative of contact_fext along the tangent, the wrenches constant in world axes.",
        inputs=(Q, F_C),
        outputs=(Output("gradient", ("6*nb", "nv"), "d f_ext / d q"),),
        emit=emit_contact_fext_gradient,
        needs=("contact_frames",),
    ),
    Algorithm(
        name="tool_fext",
        family="kinematics",
        summary="External wrenches on the bodies from a wrench at the tip of a tool.",
        inputs=(
            Q,
            Input("wrench", ("6",), "moment about the tip, then force, in world axes (N m, N)"),
            Input(
                "joint",
                (),
                "joint or link that the wrench acts on; left out, that of the attached tool",
                keyword_only=True,
                read=read_tool_body,
            ),
            Input(
                "offset",
                ("3",),
                "the tip in that frame, [x, y, z] (m); left out, the tip of the attached tool, or the frame's origin",
                keyword_only=True,
                read=read_tool_point,
            ),
        ),
        outputs=(F_EXT,),
        emit=emit_tool_fext,
        notes="The result is what the dynamics take as f_ext.",
    ),
)
