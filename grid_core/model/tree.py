"""From a valid description to a model: order, fixed links merged, composite joints split, mimic joints folded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from grid_core.model.description import Description, InertialElement, JointElement
from grid_core.model.mimic import SCALAR_TYPES, Follower
from grid_core.model.model import Body, Frame, Joint, Model
from grid_core.model.parts import NO_AXIS, WIDTHS, held_at, parts
from grid_core.model.placement import Array, Placement
from grid_core.model.topology import joints_to_world, root_link, sorted_children

BASE_JOINT = "floating_base_joint"


@dataclass
class _Lump:
    """A body under construction."""

    name: str
    mass: float = 0.0
    first_moment: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    links: list[str] = field(default_factory=list)

    def add(self, inertial: InertialElement, placement: Placement) -> None:
        """Weld a link on whose frame is placed in the body (parallel-axis theorem)."""
        ixx, ixy, ixz, iyy, iyz, izz = inertial.inertia
        axes = placement @ Placement.from_xyz_rpy(inertial.xyz, inertial.rpy)
        about_com = axes.rotation @ np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]) @ axes.rotation.T
        com = axes.translation
        self.mass += inertial.mass
        self.first_moment = self.first_moment + inertial.mass * com
        offset = inertial.mass * (com @ com * np.eye(3) - np.outer(com, com))
        self.inertia = self.inertia + 0.5 * (about_com + about_com.T) + offset

    def body(self) -> Body:
        return Body(self.name, self.mass, self.first_moment, self.inertia, tuple(self.links))


def assemble(description: Description, followers: Mapping[str, Follower], *, floating_base: bool) -> Model:
    """Build the model of a description that passed every check.

    Joints are numbered depth first over all joints (fixed ones included), children sorted by child link name, then
    joint name.

    Parameters
    ----------
    description : Description
        A valid tree.
    followers : mapping
        Resolved mimic relations by joint name.
    floating_base : bool
        Put joint 0, a free joint, under the root. A root link ``world`` without mass stays behind, its child is freed.
    """
    return _Assembly(description, followers, floating_base).run()


class _Assembly:
    def __init__(self, description: Description, followers: Mapping[str, Follower], floating_base: bool) -> None:
        self.description = description
        self.followers = followers
        self.floating_base = floating_base
        self.inertials = {link.name: link.inertial for link in description.links}
        self.children = sorted_children(description.joints)
        self.joints: list[Joint] = []
        self.lumps: list[_Lump] = []
        self.frames: list[Frame] = []
        self.places: dict[str, tuple[int, Placement]] = {}

    def run(self) -> Model:
        start = self._place_root()
        stack = list(reversed(self.children.get(start, ())))
        while stack:
            joint = stack.pop()
            self._place_joint(joint)
            stack.extend(reversed(self.children.get(joint.child, ())))
        joints, nq, nv = with_slots(self.joints)
        bodies = tuple(lump.body() for lump in self.lumps)
        return Model(self.description.name, joints, bodies, tuple(self.frames), nq, nv, self.floating_base)

    def _place_root(self) -> str:
        """Fix or free the root, and return the link whose children come next."""
        root = root_link(self.description)
        to_world = joints_to_world(self.description) if self.floating_base else None
        if not self.floating_base or to_world:
            self._place_link(root, -1, Placement.identity())
        if not self.floating_base:
            return root
        base = to_world[0].child if to_world else root
        self._add_joint(Joint(BASE_JOINT, "floating", -1, Placement.identity(), NO_AXIS, 0.0, 0, 7, 0, 6), base)
        if to_world and to_world[0].name != BASE_JOINT:
            self.frames.append(Frame(to_world[0].name, "joint", 0, Placement.identity()))
        self._place_link(base, 0, Placement.identity())
        return base

    def _place_joint(self, joint: JointElement) -> None:
        body, parent = self.places[joint.parent]
        placement = parent @ Placement.from_xyz_rpy(joint.xyz, joint.rpy)
        follower = self.followers.get(joint.name)
        held = joint.type == "fixed" or (follower is not None and follower.target is None)
        if held:
            if follower is not None and joint.type != "fixed":
                placement = placement @ held_at(joint, follower.offset)
        else:
            body, placement = self._add_chain(joint, follower, body, placement)
        if held or len(parts(joint)) > 1:
            self.frames.append(Frame(joint.name, "joint", body, placement))
        self._place_link(joint.child, body, placement)

    def _add_chain(
        self, joint: JointElement, follower: Follower | None, body: int, placement: Placement
    ) -> tuple[int, Placement]:
        """Append the joints of one element; the child link's frame is the last body's."""
        chain = parts(joint)
        for part in chain:
            nq, nv = WIDTHS.get(part.kind, (1, 1))
            made = Joint(part.name, part.kind, body, placement, part.axis, 0.0, 0, nq, 0, nv)
            made = replace(made, damping=joint.damping, friction=joint.friction)
            if joint.type in SCALAR_TYPES:
                made = _with_scalar_fields(made, joint, follower)
            body = self._add_joint(made, joint.child if part is chain[-1] else part.name)
            placement = Placement.identity()
        return body, placement

    def _add_joint(self, joint: Joint, link: str) -> int:
        self.joints.append(joint)
        self.lumps.append(_Lump(link))
        self.frames.append(Frame(joint.name, "joint", len(self.joints) - 1, Placement.identity()))
        return len(self.joints) - 1

    def _place_link(self, link: str, body: int, placement: Placement) -> None:
        self.places[link] = (body, placement)
        self.frames.append(Frame(link, "link", body, placement))
        if body >= 0:
            self.lumps[body].links.append(link)
            inertial = self.inertials[link]
            if inertial is not None:
                self.lumps[body].add(inertial, placement)


def _with_scalar_fields(made: Joint, joint: JointElement, follower: Follower | None) -> Joint:
    """Limits, pitch and mimic relation, which only joints with one coordinate have."""
    made = replace(
        made,
        pitch=joint.pitch if made.kind == "helical" else 0.0,
        lower=joint.lower,
        upper=joint.upper,
        velocity_limit=joint.velocity,
        effort_limit=joint.effort,
    )
    if follower is None:
        return made
    return replace(made, mimic=follower.target, multiplier=follower.multiplier, offset=follower.offset)


def with_slots(joints: list[Joint]) -> tuple[tuple[Joint, ...], int, int]:
    """Number the coordinates in joint order; mimic joints then take over their target's slots."""
    slots: dict[str | None, tuple[int, int]] = {}
    nq = nv = 0
    for joint in joints:
        if joint.mimic is None:
            slots[joint.name] = (nq, nv)
            nq, nv = nq + joint.nq, nv + joint.nv
    numbered = []
    for joint in joints:
        q_index, v_index = slots[joint.name if joint.mimic is None else joint.mimic]
        numbered.append(replace(joint, q_index=q_index, v_index=v_index))
    return tuple(numbered), nq, nv
