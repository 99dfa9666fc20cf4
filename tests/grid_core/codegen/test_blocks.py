"""What a block of a CUDA kernel keeps where: shared memory holds no more than every GPU of the build has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid_core.codegen.cuda import LANES, LOCAL_BYTES, BlockKernel
from grid_core.codegen.layout import Layout
from grid_core.kernel.kernel import Argument

LIMITS = [kib << 10 for kib in (64, 99, 163, 227)]
sizes = st.lists(st.integers(1, 3000), min_size=1, max_size=6)


def block(
    inputs: list[int], outputs: list[int], slots: int, workers: int, scalar_bytes: int, most_shared: int
) -> BlockKernel:
    ins = tuple(Argument(f"in{i}", size, (size,)) for i, size in enumerate(inputs))
    outs = tuple(Argument(f"out{i}", size, (size,)) for i, size in enumerate(outputs))
    layouts = tuple(Layout(out) for out in outs)
    return BlockKernel("k", workers, (), ins, outs, layouts, (), (), slots, scalar_bytes, most_shared)


@given(
    sizes, sizes, st.integers(0, 5000), st.sampled_from([1, 4, 8, 16]), st.sampled_from([4, 8]), st.sampled_from(LIMITS)
)
def test_shared_memory_is_within_the_limit(
    inputs: list[int], outputs: list[int], slots: int, workers: int, scalar_bytes: int, limit: int
) -> None:
    kernel = block(inputs, outputs, slots, workers, scalar_bytes, limit)
    assert kernel.shared_bytes <= limit
    assert kernel.outputs_shared == (kernel.tiles == 0)
    assert kernel.tiles <= workers
    rows = LANES * sum(size | 1 for size in inputs)
    columns = (LANES + 1) * sum(outputs)
    workspace = 0 if kernel.is_local else LANES * slots
    shared = kernel.input_scalars + LANES * kernel.shared_slots + (columns if kernel.outputs_shared else 0)
    assert shared + kernel.scratch == rows + columns + workspace, "everything is in one place"


def test_inputs_that_do_not_fit_are_in_scratch() -> None:
    kernel = block([35, 2000, 35], [35], 0, 4, 8, LIMITS[1])
    assert kernel.near_inputs == ("in0", "in2")
    assert kernel.scratch == LANES * 2001


@pytest.mark.parametrize(("slots", "local"), [(LOCAL_BYTES // 8, True), (LOCAL_BYTES // 8 + 1, False)])
def test_a_large_workspace_of_one_warp_is_in_scratch(slots: int, local: bool) -> None:
    kernel = block([35], [35], slots, 1, 8, LIMITS[3])
    assert kernel.is_local == local
    assert (kernel.scratch == 0) == local
