"""How the kernels of a CUDA unit are divided among source files, which are compiled side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from grid_core.codegen.shapes import Shape
from grid_core.codegen.statements import Function
from grid_core.toolchains.images import Image

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


K = TypeVar("K", bound=Divisible)


@dataclass(frozen=True)
class Division(Generic[K]):
    """The kernels of one image.

    Attributes
    ----------
    kernels : sequence
        One or several that are small.
    parts : tuple of tuple of int
        The functions, by number, that have a file of their own; none if all are in one file.
    """

    kernels: Sequence[K]
    parts: tuple[tuple[int, ...], ...] = ()

    @property
    def registers(self) -> int | None:
        """How many a thread may use; the compiler knows by itself if it sees the kernel with its functions."""
        if not self.parts:
            return None
        return min(MOST_REGISTERS, REGISTERS // (32 * self.kernels[0].shape.warps))


def divided(kernels: Iterable[K]) -> list[Division[K]]:
    """Collect small kernels in one image, and divide large ones among several files."""
    found: list[list[K]] = []
    for kernel in kernels:
        if found and sum(k.operations for k in found[-1]) + kernel.operations <= OPERATIONS:
            found[-1].append(kernel)
        else:
            found.append([kernel])
    return [Division(several, _parts(several[0]) if len(several) == 1 else ()) for several in found]


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


def images(stem: str, divisions: Iterable[Division[K]]) -> list[Image]:
    """Return the images with the names of their files, that with the kernels first."""
    made = []
    for number, division in enumerate(divisions):
        own = stem if not number else f"{stem}_{number}"
        parts = [f"{own}_part{part}.cu" for part in range(len(division.parts))]
        made.append(Image((f"{own}.cu", *parts), division.registers))
    return made
