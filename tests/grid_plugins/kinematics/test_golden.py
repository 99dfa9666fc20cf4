"""The golden cases of an independent reference implementation, on compiled units and on the reference device."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluation import Array
from tests.oracle.robots import GOLDEN, TESTS

INDEX = json.loads((TESTS / "golden" / "index.json").read_text("utf-8"))
DEVICES = {
    "float64": {"dtype": "float64"},
    "float32": {"dtype": "float32"},
    "reference": {"dtype": "float64", "device": "reference"},
}
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
OFFSETS = {"": None, "__offset": "runtime_offset", "__tool": "runtime_tool"}

Call = Callable[[Any, Any, int], Array]
"""``call(handle, golden, samples)``: what the first samples of a golden array are compared with."""


def per_frame(method: str, *names: str, **choices: str) -> Call:
    """Return a call that stacks a method's results for every frame of the file."""

    def call(handle: Any, golden: Any, samples: int) -> Array:
        arguments = [golden[name][:samples] for name in names]
        frames = [str(name) for name in golden["frame_names"]]
        return np.stack([getattr(handle, method)(*arguments, target_jid=f, **choices) for f in frames], axis=1)

    return call


def runtime(method: str, offset: str | None) -> Call:
    def call(handle: Any, golden: Any, samples: int) -> Array:
        frames = [str(name) for name in golden["frame_names"]]
        where = None if offset is None else golden[offset]
        return np.asarray(getattr(handle, method)(golden["q"][:samples], frames, where))

    return call


def plain(method: str, *names: str) -> Call:
    return lambda handle, golden, samples: getattr(handle, method)(*(golden[name][:samples] for name in names))


def placements(handle: Any, golden: Any, samples: int) -> Array:
    index = {frame.name: number for number, frame in enumerate(handle.frames)}
    chosen = [index[str(name)] for name in golden["frame_names"]]
    return np.asarray(handle.frame_transforms(golden["q"][:samples])[:, chosen, :3])


def poses(handle: Any, golden: Any, samples: int) -> Array:
    found = handle.fk_batched(golden["q"][:samples])
    sign = np.where(found[:, 3:4] < 0.0, -1.0, 1.0)
    return np.concatenate([found[:, :3], sign * found[:, 3:]], axis=1)


def contact_wrenches(handle: Any, golden: Any, samples: int) -> Array:
    return np.asarray(handle.contact_fext(golden["q"], golden["contact_fext__wrench"].reshape(samples, -1)))


CALLS: dict[str, Call] = {
    "end_effector_pose": plain("end_effector_pose", "q"),
    "end_effector_pose_gradient": plain("end_effector_pose_gradient", "q"),
    "end_effector_pose_hessian": plain("end_effector_pose_hessian", "q"),
    "frame_placement": placements,
    "fk_batched": poses,
    "contact_fext": contact_wrenches,
    **{f"frame_jacobian__{r}": per_frame("frame_jacobian", "q", reference_frame=r) for r in REFERENCES},
    **{f"frame_jacobian_dot__{r}": per_frame("frame_jacobian_dot", "q", "qd", reference_frame=r) for r in REFERENCES},
    **{
        f"{method}{suffix}": runtime(method, offset)
        for method in ("end_effector_pose_runtime", "end_effector_pose_gradient_runtime")
        for suffix, offset in OFFSETS.items()
    },
}
SECOND = {"end_effector_pose_hessian"}
"""Keys of the second file of a robot."""


CASES = [
    pytest.param(
        robot,
        key,
        device,
        id=f"{robot}-{key}-{device}",
        marks=[pytest.mark.slow] if device == "float32" and robot not in ("iiwa14", "go2") else [],
    )
    for robot in GOLDEN
    for key in CALLS
    for device in DEVICES
]
"""In single precision, an arm and a quadruped are enough for every day."""


@pytest.mark.parametrize(("robot", "key", "device"), CASES)
def test_agrees(robot: str, key: str, device: str, compiled: Callable[..., Any]) -> None:
    file = f"{robot}_second.npz" if key in SECOND else f"{robot}.npz"
    golden = np.load(TESTS / "golden" / file)
    options = DEVICES[device]
    if key == "contact_fext":
        options = options | {"contact_frames": tuple(str(name) for name in golden["frame_names"])}
    handle = compiled(GOLDEN[robot].urdf, floating_base=GOLDEN[robot].floating_base, **options)
    expected = golden[key]
    result = CALLS[key](handle, golden, len(expected)).reshape(expected.shape)
    compare(result, expected, 2e-4 if device == "float32" else INDEX["robots"][robot]["files"][file][key]["tol"])


@pytest.mark.parametrize("robot", [robot for robot in GOLDEN if robot != "double_pendulum_continuous"])
def test_operational_space_inertia(robot: str, compiled: Callable[..., Any]) -> None:
    golden = np.load(TESTS / "golden" / f"{robot}.npz")
    for number, name in enumerate(golden["osc_frame_names"]):
        options = {"dtype": "float64", "device": "reference", "ee_joint_names": (str(name),)}
        handle = compiled(GOLDEN[robot].urdf, floating_base=GOLDEN[robot].floating_base, **options)
        compare(handle.osc_inertia(golden["q"]), golden["osc_inertia"][:, number], 1e-9)


def compare(result: Array, expected: Array, tolerance: float) -> None:
    for ours, theirs in zip(result, expected, strict=True):
        assert np.abs(ours - theirs).max() <= tolerance * max(1.0, np.abs(theirs).max())
