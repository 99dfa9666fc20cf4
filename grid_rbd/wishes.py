"""Turns the arguments of the public functions into a request, and refuses what this version does not have."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grid_backends.errors import CudaError, NotAvailableError
from grid_backends.numpy.cuda import device_index
from grid_backends.numpy.threads import checked_threads
from grid_core.build.options import BuildOptions, flag, make_options
from grid_core.build.request import RobotRequest, make_request
from grid_core.errors import KeywordError, OptionError, URDFParseError, nearest
from grid_core.model.xml_source import Source, is_markup, path_text, read_file, read_source
from grid_core.toolchains.architectures import Architectures, architectures, architectures_of, requested_architectures
from grid_rbd.backends import check_backend
from grid_rbd.environment import check_environment

DEVICES = ("auto", "cpu", "cuda", "reference")
CONVENTIONS = ("pinocchio", "mujoco")


@dataclass(frozen=True)
class Wish:
    """A request with what matters to the handle only."""

    request: RobotRequest
    device: str
    max_batch: int
    lazy: bool
    backend: str = "numpy"

    @property
    def is_compiled(self) -> bool:
        """Whether there are units to compile: the reference device interprets kernels."""
        return self.device != "reference"

    def to_json(self) -> dict[str, Any]:
        """Return as JSON values what a robot is built and registered by; the backend has no part in that."""
        request = self.request.to_json()
        return {"request": request, "device": self.device, "max_batch": self.max_batch, "lazy": self.lazy}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Wish:
        """Return the wish again, checked where a request says nothing about it."""
        request, max_batch = RobotRequest.from_json(values["request"]), positive(values["max_batch"], "max_batch")
        return cls(request, _checked_device(values["device"]), max_batch, flag(values["lazy"], "lazy"))


def description_of(urdf_path: str | Path | None, urdf_string: str | bytes | None) -> Source:
    """Read the one description that was given.

    Raises
    ------
    OptionError
        None or both were given, or one of the wrong type.
    URDFParseError
        The file cannot be read, or the text is a path.
    DescriptionNotFoundError
        There is no such file; also a FileNotFoundError.
    """
    if (urdf_path is None) == (urdf_string is None):
        raise OptionError("give exactly one of urdf_path (a file) and urdf_string (the text of a description)")
    if urdf_path is not None:
        return read_file(_path(urdf_path, "urdf_path"))
    if isinstance(urdf_string, bytes):
        return read_source(urdf_string)
    if not isinstance(urdf_string, str):
        raise OptionError(f"urdf_string is {urdf_string!r:.80}, expected the text of a description (str or bytes)")
    if not is_markup(urdf_string):
        raise URDFParseError(
            f"urdf_string is {urdf_string[:60]!r}, expected XML text, which starts with '<'; pass a path as urdf_path"
        )
    return read_source(urdf_string)


def make_wish(source: Source, options: Mapping[str, Any]) -> Wish:
    """Check the keyword arguments of the public functions.

    Raises
    ------
    OptionError
        An option is unknown, has a wrong value, or contradicts another; or an environment variable has a wrong value.
    NotAvailableError
        An option belongs to a part that this version does not have.
    """
    check_environment()
    wanted = dict(options)
    backend = check_backend(wanted.pop("backend", "numpy"))
    convention = check_convention(wanted.pop("output_convention", "pinocchio"))
    wanted.pop("enable_mujoco_kernels", True)
    wanted.pop("_profile_overlay", None)
    if (threads := wanted.pop("threads", None)) is not None:
        checked_threads(threads)
    device, level = _target(wanted.pop("device", "auto"), {name: wanted.pop(name, None) for name in LEVELS})
    frames = {
        "end_effectors": _names(wanted.pop("ee_joint_names", None), "ee_joint_names"),
        "contact_frames": _names(wanted.pop("contact_frames", None), "contact_frames"),
        "cost_frames": _names(wanted.pop("cost_frames", None), "cost_frames"),
    }
    runtime = _runtime_tables(wanted)
    max_batch = positive(wanted.pop("max_batch_size", 256), "max_batch_size")
    lazy = flag(wanted.pop("lazy", False), "lazy")
    target = {
        "algorithm_list": wanted.pop("algorithm_list", None),
        "level": level,
        "compiler": _command(wanted.pop("compiler", None)),
        "plugin_files": _paths(wanted.pop("plugins", ()), "plugins"),
    }
    maths = _options(wanted, runtime=runtime, **frames)
    if convention == "mujoco" and maths.floating_base:
        raise NotAvailableError(
            "output_convention='mujoco': on a floating base it is not part of this version; use 'pinocchio' and "
            "convert inputs and outputs (on a fixed base both are the same)"
        )
    return Wish(make_request(source, maths, **target), device, max_batch, lazy, backend)


LEVELS = ("cuda_arch", "cuda_archs", "cpu_level")
TARGETS = ("device", *LEVELS, "compiler")
FRAMES = ("ee_joint_names", "contact_frames", "cost_frames")
MATHS = (
    "floating_base",
    "follow_mimic",
    "dtype",
    "use_joint_dynamics",
    "friction_model",
    "friction_width",
    "cost_features",
)


OTHERS = ("algorithm_list", "lazy", "plugins", "max_batch_size", "threads", "backend", "output_convention")
RUNTIME = ("runtime_inertia", "runtime_transform", "runtime_joint_dynamics", "enable_tool")


def _runtime_tables(wanted: dict[str, Any]) -> list[str]:
    """Take the options that name tables out of ``wanted``; a tool needs the inertia table."""
    chosen = [name for name in RUNTIME if flag(wanted.pop(name, False), name)]
    return ["inertia" if name == "enable_tool" else name.removeprefix("runtime_") for name in chosen]


def _options(wanted: dict[str, Any], **more: Any) -> BuildOptions:
    for name in wanted:
        if name not in MATHS:
            known = [*MATHS, *RUNTIME, *FRAMES, *TARGETS, *OTHERS]
            raise KeywordError(f"unknown option {name!r}{nearest(name, known)}; options: {', '.join(known)}")
    if isinstance(wanted.get("dtype"), (type, np.dtype)):
        wanted["dtype"] = _dtype_name(wanted["dtype"])
    return make_options(**wanted, **more)


def _dtype_name(dtype: Any) -> str:
    """Return the name of ``np.float32`` and its like."""
    try:
        return str(np.dtype(dtype))
    except TypeError:
        return repr(dtype)


def check_convention(convention: str) -> str:
    """Return the convention if it exists."""
    if convention not in CONVENTIONS:
        raise OptionError(f"output_convention is {convention!r}, expected one of {', '.join(CONVENTIONS)}")
    return convention


def _target(device: str, given: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the device that is meant, and the level to compile for if it is not the CPU's default."""
    cpu_level = given["cpu_level"]
    if cpu_level is not None and not isinstance(cpu_level, str):
        raise OptionError(f"cpu_level is {cpu_level!r}, expected the name of a level, such as 'x86-64-v3' or 'native'")
    kind = _checked_device(device).partition(":")[0]
    gpu = [name for name in ("cuda_arch", "cuda_archs") if given[name] is not None]
    chosen_by = f"{gpu[0]}={given[gpu[0]]!r}" if gpu and kind == "auto" else f"device={device!r}"
    if kind == "auto":
        device = kind = "cuda" if gpu else "cpu"
    for name in gpu if kind != "cuda" else () if cpu_level is None else ("cpu_level",):
        raise OptionError(f"{name}={given[name]!r} contradicts {chosen_by}; leave one of them out")
    return device, _cuda_level(device, given["cuda_arch"], given["cuda_archs"]) if kind == "cuda" else cpu_level


def _checked_device(device: str) -> str:
    kind, colon, _ = str(device).partition(":")
    if kind not in DEVICES or (colon and kind != "cuda"):
        raise OptionError(f"device is {device!r}, expected one of {', '.join(DEVICES)}, or 'cuda:1' and its like")
    return device


def _cuda_level(device: str, one: Any, several: Any) -> str:
    """Return the level of the architectures that are asked for, else that of a GPU."""
    index = device_index(device)
    wanted = requested_architectures() if several is None else architectures(several)
    if one is not None:
        wanted |= Architectures((positive(one, "cuda_arch"),))
    return (wanted if wanted.machine else Architectures((_compute_of(index),))).level


def target_facts(request: RobotRequest) -> dict[str, Any]:
    """Return what a request is compiled for; ``cuda_arch`` is the first of several architectures."""
    if request.target.name == "cpu":
        return {"cpu_level": request.level, "cuda_arch": None, "cuda_archs": None}
    wanted = architectures_of(request.level)
    return {"cpu_level": None, "cuda_arch": wanted.machine[0], "cuda_archs": wanted.names}


def _compute_of(index: int) -> int:
    """Return the compute capability of a GPU, 90 for 9.0."""
    from grid_backends.native import cuda_device

    try:
        return int(cuda_device(index)["compute"])
    except CudaError as error:
        raise CudaError(f"{error}; to build for a GPU that is not here, give cuda_arch") from error


def _names(value: Any, option: str) -> tuple[str, ...]:
    if value is None:
        return ()
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    for name in names:
        if not isinstance(name, str) or not name:
            raise OptionError(f"{option} has the entry {name!r}, expected names of joints or links")
    return names


def _path(value: object, option: str) -> str:
    path = path_text(value)
    if path is None:
        raise OptionError(f"{option} is {value!r:.80}, expected a path (str or pathlib.Path)")
    return path


def _paths(value: object, option: str) -> tuple[str, ...]:
    if isinstance(value, (str, bytes, os.PathLike)) or not isinstance(value, Iterable):
        raise OptionError(f"{option} is {value!r:.80}, expected a sequence of paths, such as ['my_plugin.py']")
    return tuple(_path(entry, f"an entry of {option}") for entry in value)


def _command(value: object) -> str | None:
    command = path_text(value)
    if value is not None and not command:
        raise OptionError(f"compiler is {value!r:.80}, expected a command or path, such as 'clang++'")
    return command


def positive(value: Any, option: str) -> int:
    """Return a whole number of at least 1."""
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise OptionError(f"{option} is {value!r}, expected a whole number of at least 1")
    return number
