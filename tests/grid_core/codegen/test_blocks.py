"""What a block of a CUDA kernel keeps where: shared memory holds no more than every GPU of the build has."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid_core.codegen.block import LANES, BlockMemory, block_memory, too_large
from grid_core.codegen.cuda import LOCAL_BYTES, block_kernel, cuda_kernels, render_cuda_unit
from grid_core.codegen.cuda import describe as describe_unit
from grid_core.codegen.images import divided
from grid_core.codegen.layout import Layout
from grid_core.codegen.shapes import Shape
from grid_core.kernel import KernelBuilder, trace_algorithm
from grid_core.kernel.kernel import Argument
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model, load_model
from grid_core.plugins.manager import load_catalogue
from grid_core.toolchains.architectures import Architectures
from tests.grid_core.units import GOLDEN, toy
from tests.oracle.evaluation import quiet_model
from tests.oracle.trees import chain, describe

LIMITS = [kib << 10 for kib in (64, 99, 163, 227)]
SHAPES = [Shape(1), Shape(4), Shape(8), Shape(16), Shape(16, pooled=True)]
counts = st.integers(0, 5000)
sizes = st.lists(st.integers(1, 3000), min_size=1, max_size=6)


def arguments(name: str, numbers: list[int]) -> list[Argument]:
    return [Argument(f"{name}{i}", size, (size,)) for i, size in enumerate(numbers)]


def memory(
    inputs: list[int], outputs: list[int], slots: int, messages: int, shape: Shape, scalar_bytes: int, limit: int
) -> BlockMemory:
    given_inputs = arguments("in", inputs)
    left = too_large(given_inputs, scalar_bytes, limit)
    staged = [(i, a) for i, a in enumerate(given_inputs) if a.name not in left]
    kept = {a.name: Layout(a) for a in arguments("out", outputs)}
    return block_memory(staged, kept, frozenset(), slots, messages, shape, 5, scalar_bytes, limit)


@given(sizes, sizes, counts, counts, st.sampled_from(SHAPES), st.sampled_from([4, 8]), st.sampled_from(LIMITS))
def test_shared_memory_is_within_the_limit(
    inputs: list[int],
    outputs: list[int],
    slots: int,
    messages: int,
    shape: Shape,
    scalar_bytes: int,
    limit: int,
) -> None:
    block = memory(inputs, outputs, slots, messages, shape, scalar_bytes, limit)
    far = [output for output in block.outputs if output.form == "far"]
    assert block.shared_bytes <= limit
    assert block.tiles <= shape.warps
    assert bool(far) == (block.tiles > 0)
    near = [(i.offset, LANES * i.pitch) for i in block.inputs]
    near += [(o.offset, o.scalars) for o in block.outputs if o.form != "far"]
    near.append((block.messages, LANES * block.near))
    distant = [*((o.offset, o.scalars) for o in far), (block.far, LANES * (messages - block.near))]
    (near if block.slots_near else distant).append((block.slots, LANES * slots))
    check_apart(near, block.shared_bytes // scalar_bytes)
    check_apart(distant, block.scratch)
    if shape.pooled:
        assert len(far) == len(outputs), "all blocks of a cluster reach the outputs"
        assert not block.slots_near, "and the workspace"


def check_apart(regions: list[tuple[int, int]], size: int) -> None:
    """Regions ``(offset, length)`` do not overlap, begin at whole vectors and are within ``size``."""
    used = sorted(region for region in regions if region[1])
    assert all(offset % 4 == 0 for offset, _ in used)
    assert all(a + length <= b for (a, length), (b, _) in pairwise(used))
    assert not used or used[-1][0] + used[-1][1] <= size


@given(sizes, sizes, st.integers(0, 500), st.sampled_from([2, 4, 8]), st.sampled_from([4, 8]))
def test_blocks_of_a_cluster_share_the_outputs(
    inputs: list[int], outputs: list[int], messages: int, blocks: int, scalar_bytes: int
) -> None:
    block = memory(inputs, outputs, 0, messages, Shape(4, blocks), scalar_bytes, 1 << 30)
    assert block.scratch == 0
    assert block.barriers * scalar_bytes + 8 * 5 == block.shared_bytes
    for output in block.outputs:
        columns = output.columns(blocks)
        assert (columns[0], columns[-1]) == (0, output.size)
        assert all(0 <= b - a <= output.share for a, b in pairwise(columns))


def test_inputs_that_do_not_fit_are_read_where_they_are() -> None:
    assert too_large(arguments("in", [35, 2000, 35]), 8, LIMITS[1]) == {"in1"}


@pytest.mark.parametrize(("slots", "local"), [(LOCAL_BYTES // 8, True), (LOCAL_BYTES // 8 + 1, False)])
def test_a_large_workspace_of_one_warp_is_in_scratch(pendulum: Model, slots: int, local: bool) -> None:
    def emit(k: KernelBuilder) -> None:
        w = k.array("w", [*k.input("x"), *[0.0] * (slots - pendulum.nv)])
        k.loop([(0,), (1,)], lambda row: row.accumulate(w, 0, 1.0))
        k.output("y", w.values()[: pendulum.nv])

    kernel = trace_algorithm(toy("looped", {"x": "nv"}, {"y": "nv"}, emit), pendulum, {})
    block = block_kernel(kernel, frozenset(), Shape(1), 8, LIMITS[3])
    assert block.local == local
    assert (block.memory.scratch == 0) == local


@pytest.mark.filterwarnings("ignore::grid_core.model.URDFWarning")
@pytest.mark.parametrize(("architectures", "clusters"), [((90,), True), ((86, 90), False)])
def test_clusters_are_for_gpus_that_have_them(architectures: tuple[int, ...], clusters: bool) -> None:
    algorithms = load_catalogue().algorithms
    model = load_model(GOLDEN / "go2.urdf", floating_base=True)
    gradient = algorithms["inverse_dynamics_gradient"]
    kernels = cuda_kernels(gradient, model, algorithms, TraceSettings(), "float32", Architectures(architectures))
    assert any(kernel.shape.blocks > 1 for kernel in kernels) == clusters
    texts = render_cuda_unit(gradient, model, "float32", divided(kernels)).values()
    assert sum(text.count('extern "C" __global__') for text in texts) == len(kernels)
    assert any("__cluster_dims__" in text for text in texts) == clusters


@pytest.mark.parametrize(("architectures", "sizes"), [((90,), [1, 2, 4, 8, 16]), ((86, 90), [1])])
def test_many_outputs_are_copied_by_clusters_of_any_size(architectures: tuple[int, ...], sizes: list[int]) -> None:
    algorithms, wanted = load_catalogue().algorithms, Architectures(architectures)
    model = quiet_model(describe(chain(*["revolute"] * 27), 5))
    hessian = algorithms["end_effector_pose_hessian"]
    kernels = cuda_kernels(hessian, model, algorithms, TraceSettings(), "float32", wanted)
    listed = describe_unit(hessian, "float32", wanted, divided(kernels))["kernels"]
    pooled = [kernel for kernel in listed if kernel["pooled"]]
    assert [kernel["blocks"] for kernel in pooled] == sizes
    assert len({kernel["name"] for kernel in pooled}) == 1
    assert len({kernel["shape"] for kernel in listed}) == len(listed)
