"""CUDA architectures: which GPUs a unit has machine code for, and from which on its PTX serves newer ones."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from grid_core.errors import OptionError

VARIABLE = "GRID_RBD_CUDA_ARCHS"

SMALLEST_SHARED = 99 << 10
SHARED = {75: 64 << 10, 80: 163 << 10, 87: 163 << 10, **dict.fromkeys((90, 100, 103, 110), 227 << 10)}
"""Bytes of shared memory that a block may take, by compute capability (CUDA C++ Programming Guide, table of technical
specifications). All others have the smallest size since 8.0."""


CLUSTERS = 90
"""The first compute capability whose blocks form clusters and reach each other's shared memory."""


@dataclass(frozen=True)
class Architectures:
    """What a CUDA unit is compiled for.

    Attributes
    ----------
    machine : tuple of int
        Compute capabilities with machine code, 90 for 9.0, in order.
    portable : tuple of int
        Those with PTX too, which the driver compiles for any GPU of at least that capability.
    """

    machine: tuple[int, ...] = ()
    portable: tuple[int, ...] = ()

    @property
    def level(self) -> str:
        """The name in keys and records: ``"sm_90"``, ``"sm_86,sm_90,compute_90"``."""
        return ",".join([*(f"sm_{n}" for n in self.machine), *(f"compute_{n}" for n in self.portable)])

    @property
    def names(self) -> list[str]:
        """What users write: ``["86", "90+ptx"]``."""
        return [f"{n}+ptx" if n in self.portable else str(n) for n in self.machine]

    @property
    def shared_bytes(self) -> int:
        """Shared memory that a block may take on every GPU that the unit is for."""
        own = [SHARED.get(number, SMALLEST_SHARED) for number in self.machine]
        return min([*own, SMALLEST_SHARED] if self.portable else own)

    @property
    def clusters(self) -> bool:
        """Whether blocks can form clusters on every GPU that the unit is for."""
        return all(number >= CLUSTERS for number in (*self.machine, *self.portable))

    def run_on(self, compute: int) -> bool:
        """Return whether a GPU of a compute capability takes the code: its own, of an earlier minor version, or PTX."""
        binary = any(n // 10 == compute // 10 and n <= compute for n in self.machine)
        return binary or any(n <= compute for n in self.portable)

    def __or__(self, other: Architectures) -> Architectures:
        """Return what either has."""
        return Architectures(_sorted(*self.machine, *other.machine), _sorted(*self.portable, *other.portable))


def architectures(value: Any, option: str = "cuda_archs") -> Architectures:
    """Read architectures as users write them.

    Parameters
    ----------
    value : int, str, or iterable of both
        Compute capabilities, such as ``"86,89,120+ptx"`` or ``[86, "90+ptx"]``; ``+ptx`` adds PTX for newer GPUs.
    option : str
        What the value is called in messages.

    Raises
    ------
    OptionError
        An entry is no compute capability, or there is none.
    """
    entries = [value] if isinstance(value, (str, int)) or not isinstance(value, Iterable) else [*value]
    words = [word for entry in entries for word in re.split(r"[,;\s]+", str(entry)) if word]
    found = [match for word in words if (match := re.fullmatch(r"(\d{2,3})(\+ptx)?", word, re.IGNORECASE))]
    if not words or len(found) < len(words):
        raise OptionError(
            f"{option} is {value!r}, expected compute capabilities without the dot, such as '86,90' for 8.6 and 9.0, "
            "each with '+ptx' behind it to serve newer GPUs too"
        )
    return Architectures(
        _sorted(*(int(match[1]) for match in found)), _sorted(*(int(match[1]) for match in found if match[2]))
    )


def requested_architectures() -> Architectures:
    """Return what ``GRID_RBD_CUDA_ARCHS`` asks for; none if it is not set."""
    text = os.environ.get(VARIABLE, "")
    return architectures(text, f"environment variable {VARIABLE}") if text.strip() else Architectures()


def is_cuda(level: str) -> bool:
    """Whether a level is one of the CUDA target."""
    return level.startswith("sm_")


def architectures_of(level: str) -> Architectures:
    """Return what a level of the CUDA target stands for.

    Raises
    ------
    OptionError
        It is no such level.
    """
    words = level.split(",")
    if not is_cuda(level) or not all(re.fullmatch(r"(sm|compute)_\d{2,3}", word) for word in words):
        raise OptionError(
            f"CUDA level is {level!r}, expected a name such as 'sm_90', or 'sm_86,sm_90,compute_90' for several"
        )
    numbers = {kind: [int(w.partition("_")[2]) for w in words if w.startswith(kind)] for kind in ("sm", "compute")}
    return Architectures(_sorted(*numbers["sm"]), _sorted(*numbers["compute"]))


def _sorted(*numbers: int) -> tuple[int, ...]:
    return tuple(sorted(set(numbers)))
