"""How the kernels of a CUDA unit are divided among source files, which are compiled side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from grid_core.codegen.shapes import Shape
from grid_core.codegen.statements import Function

OPERATIONS = 8000
"""Operations of the kernels in one source file, about."""

PART_OPERATIONS = 16000
"""Operations of the functions in one file, about, if a kernel is divided. A compiler's time grows faster."""

REGISTERS = 65536
"""Of a multiprocessor."""
MOST_REGISTERS = 255
"""That a thread can use."""


class Divisible(Protocol):
    """What a division asks of a kernel."""

    @property
    def operations(self) -> int: ...
    @property
    def inline(self) -> bool: ...
    @property
    def functions(self) -> tuple[Function, ...]: ...
    @property
    def shape(self) -> Shape: ...


@dataclass(frozen=True)
class Image:
    """A fat binary.

    Attributes
    ----------
    kernels : sequence
        One or several that are small.
    parts : tuple of tuple of int
        The functions, by number, that have a file of their own; none if all are in one file.
    """

    kernels: Sequence[Any]
    parts: tuple[tuple[int, ...], ...] = ()

    @property
    def registers(self) -> int | None:
        """How many a thread may use; the compiler knows by itself if it sees the kernel with its functions."""
        if not self.parts:
            return None
        return min(MOST_REGISTERS, REGISTERS // (32 * int(self.kernels[0].shape.warps)))


def images(kernels: Iterable[Divisible]) -> list[Image]:
    """Collect small kernels in one file, and divide large ones among several."""
    found: list[list[Divisible]] = []
    for kernel in kernels:
        if found and sum(k.operations for k in found[-1]) + kernel.operations <= OPERATIONS:
            found[-1].append(kernel)
        else:
            found.append([kernel])
    return [Image(several, _parts(several[0]) if len(several) == 1 else ()) for several in found]


def _parts(kernel: Divisible) -> tuple[tuple[int, ...], ...]:
    if kernel.inline:
        return ()
    parts: list[list[int]] = []
    filled = 0
    for number, function in enumerate(kernel.functions):
        filled += function.operations
        if not parts or filled > PART_OPERATIONS:
            parts.append([])
            filled = function.operations
        parts[-1].append(number)
    return tuple(map(tuple, parts)) if len(parts) > 1 else ()


def names(stem: str, made: Sequence[Image]) -> list[list[str]]:
    """Return the names of the source files of each image, that with the kernels first."""
    stems = [stem if not number else f"{stem}_{number}" for number in range(len(made))]
    return [
        [f"{own}.cu", *(f"{own}_part{part}.cu" for part in range(len(image.parts)))] for own, image in zip(stems, made)
    ]


def listing(stem: str, made: Sequence[Image]) -> str:
    """Return what the compiler has to know of the images, as JSON."""
    return json.dumps(
        [{"sources": files, "registers": image.registers} for files, image in zip(names(stem, made), made)], indent=1
    )
