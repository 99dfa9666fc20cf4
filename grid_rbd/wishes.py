"""Turns the arguments of the public functions into a request, and refuses what this version does not have."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grid_backends.errors import NotAvailableError
from grid_core.build.options import BuildOptions, flag, make_options
from grid_core.build.request import RobotRequest, make_request
from grid_core.errors import OptionError, nearest
from grid_core.model.xml_source import Source, read_source

DEVICES = ("auto", "cpu", "reference")
CONVENTIONS = ("pinocchio", "mujoco")

LATER: dict[str, tuple[Any, str]] = {
    "cuda_arch": (None, "the CUDA target is not part of this version; leave it out to build for the CPU"),
    "runtime_inertia": (False, "run-time tables are not part of this version; register changed descriptions instead"),
    "runtime_transform": (False, "run-time tables are not part of this version; register changed descriptions instead"),
    "runtime_joint_dynamics": (False, "run-time tables are not part of this version; register changed descriptions"),
    "enable_tool": (False, "run-time tools are not part of this version; add the tool's link to the description"),
    "contact_frames": (None, "contact frames are not part of this version; pass body wrenches as f_ext"),
    "cost_frames": (None, "the cost menu is not part of this version; leave cost_frames out"),
}
"""Arguments of the documented interface without a meaning yet: their neutral value, and what to do instead."""

BACKENDS = {"numpy": None, "jax": "the JAX front-end", "torch": "the PyTorch front-end"}


@dataclass(frozen=True)
class Wish:
    """A request with what matters to the handle only."""

    request: RobotRequest
    device: str
    end_effectors: tuple[str, ...]
    max_batch: int
    lazy: bool


def description_of(urdf_path: str | Path | None, urdf_string: str | bytes | None) -> Source:
    """Read the one description that was given.

    Raises
    ------
    OptionError
        None or both were given.
    FileNotFoundError
        There is no such file.
    """
    if (urdf_path is None) == (urdf_string is None):
        raise OptionError("give exactly one of urdf_path (a file) and urdf_string (the text of a description)")
    if urdf_path is not None:
        return read_source(Path(urdf_path))
    assert urdf_string is not None
    return read_source(urdf_string.encode() if isinstance(urdf_string, str) else urdf_string)


def make_wish(source: Source, options: Mapping[str, Any]) -> Wish:
    """Check the keyword arguments of the public functions.

    Raises
    ------
    OptionError
        An option is unknown, has a wrong value, or contradicts another.
    NotAvailableError
        An option belongs to a part that this version does not have.
    """
    wanted = dict(options)
    for name, (neutral, instead) in LATER.items():
        value = wanted.pop(name, neutral)
        if value != neutral:
            raise NotAvailableError(f"{name}={value!r}: {instead}")
    check_backend(wanted.pop("backend", "numpy"))
    convention = check_convention(wanted.pop("output_convention", "pinocchio"))
    wanted.pop("enable_mujoco_kernels", True)
    wanted.pop("_profile_overlay", None)
    device = check_device(wanted.pop("device", "auto"))
    end_effectors = _names(wanted.pop("ee_joint_names", None), "ee_joint_names")
    max_batch = _positive(wanted.pop("max_batch_size", 256), "max_batch_size")
    lazy = flag(wanted.pop("lazy", False), "lazy")
    target = {
        "algorithm_list": wanted.pop("algorithm_list", None),
        "level": wanted.pop("cpu_level", None),
        "compiler": wanted.pop("compiler", None),
        "plugin_files": wanted.pop("plugins", ()),
    }
    maths = _options(wanted)
    if convention == "mujoco" and maths.floating_base:
        raise NotAvailableError(
            "output_convention='mujoco': on a floating base it is not part of this version; use 'pinocchio' and "
            "convert inputs and outputs (on a fixed base both are the same)"
        )
    return Wish(make_request(source, maths, **target), device, end_effectors, max_batch, lazy)


MATHS = ("floating_base", "follow_mimic", "dtype", "use_joint_dynamics", "friction_model", "friction_width")


def _options(wanted: dict[str, Any]) -> BuildOptions:
    for name in wanted:
        if name not in MATHS:
            known = [*MATHS, *LATER, "algorithm_list", "device", "lazy", "compiler", "cpu_level", "plugins"]
            raise OptionError(f"unknown option {name!r}{nearest(name, known)}; options: {', '.join(known)}")
    return make_options(**wanted)


def check_backend(backend: str) -> None:
    """Raise unless the backend exists and is part of this version."""
    if backend not in BACKENDS:
        raise OptionError(f"backend is {backend!r}, expected one of {', '.join(BACKENDS)}")
    if missing := BACKENDS[backend]:
        raise NotAvailableError(f"backend={backend!r}: {missing} is not part of this version; use backend='numpy'")


def check_convention(convention: str) -> str:
    """Return the convention if it exists."""
    if convention not in CONVENTIONS:
        raise OptionError(f"output_convention is {convention!r}, expected one of {', '.join(CONVENTIONS)}")
    return convention


def check_device(device: str) -> str:
    """Return the device that a name stands for."""
    if device == "cuda" or str(device).startswith("cuda:"):
        raise NotAvailableError(f"device={device!r}: the CUDA target is not part of this version; use device='cpu'")
    if device not in DEVICES:
        raise OptionError(f"device is {device!r}, expected one of {', '.join(DEVICES)}")
    return "cpu" if device == "auto" else device


def _names(value: Any, option: str) -> tuple[str, ...]:
    if value is None:
        return ()
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    for name in names:
        if not isinstance(name, str) or not name:
            raise OptionError(f"{option} has the entry {name!r}, expected names of joints or links")
    return names


def _positive(value: Any, option: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise OptionError(f"{option} is {value!r}, expected a whole number of at least 1")
    return number
