"""Kernels among source files: small ones together, large ones in parts, nothing lost."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from grid_core.codegen.images import OPERATIONS, PART_OPERATIONS, divided, images
from grid_core.codegen.shapes import Shape
from grid_core.codegen.statements import Function


@dataclass(frozen=True)
class Toy:
    sizes: tuple[int, ...]
    inline: bool = False
    shape: Shape = field(default_factory=lambda: Shape(16))

    @property
    def operations(self) -> int:
        return sum(self.sizes)

    @property
    def functions(self) -> tuple[Function, ...]:
        return tuple(Function(f"f{n}", (), (), False, (), size) for n, size in enumerate(self.sizes))


def test_small_kernels_share_a_file() -> None:
    small = Toy((OPERATIONS // 4,), inline=True)
    made = divided([small] * 6)
    assert [len(image.kernels) for image in made] == [4, 2]
    assert all(image.parts == () and image.registers is None for image in made)
    assert [image.sources for image in images("unit", made)] == [("unit.cu",), ("unit_1.cu",)]


def test_a_large_kernel_is_divided_between_its_functions() -> None:
    sizes = (PART_OPERATIONS // 2, PART_OPERATIONS // 2, 2 * PART_OPERATIONS, 10, 20)
    (image,) = divided([Toy(sizes)])
    assert image.parts == ((0, 1), (2,), (3, 4))
    (named,) = images("unit", [image])
    assert named.sources == ("unit.cu", "unit_part0.cu", "unit_part1.cu", "unit_part2.cu")


@pytest.mark.parametrize(("shape", "registers"), [(Shape(16), 128), (Shape(4, 8), 255), (Shape(1), 255)])
def test_a_block_has_registers_for_all_its_threads(shape: Shape, registers: int) -> None:
    (image,) = divided([Toy((PART_OPERATIONS, PART_OPERATIONS), shape=shape)])
    assert image.registers == registers
    assert registers * 32 * shape.warps <= 65536


@pytest.mark.parametrize("toy", [Toy((3 * PART_OPERATIONS,)), Toy((PART_OPERATIONS,) * 3, inline=True)])
def test_what_is_one_function_stays_in_one_file(toy: Toy) -> None:
    (image,) = divided([toy])
    assert image.parts == ()
