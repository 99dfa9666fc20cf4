"""Device memory: reuse in the order of streams, graphs that are captured, and its end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grid_backends.errors import DeviceMemoryError
from tests.grid_backends.cuda.fakes import FakeDriver, InterfaceArray

NV = 8
STREAM, OTHER = 0x7000, 0x8000


def call(function: Any, arrays: Any, stream: int = STREAM, out: Any = None) -> Any:
    return function((*map(InterfaceArray, arrays), None, None, None, None), out, stream)


def address(array: Any) -> int:
    return array.__cuda_array_interface__["data"][0]


def test_no_allocation_after_the_first_calls(fake: FakeDriver, open_toy: Any, samples: Any) -> None:
    toy = open_toy(scratch=100)
    call(toy, samples(40))
    fake.clear()
    for batch in (40, 36, 33):
        call(toy, samples(batch))
    assert fake.log("cuMemAlloc") == []


def test_results_that_are_held_are_not_reused(toy: Any, samples: Any) -> None:
    held = call(toy, samples(40))
    before = held.numpy()
    assert address(call(toy, samples(40))) != address(held)
    np.testing.assert_array_equal(held.numpy(), before)


def test_other_streams_get_other_memory(toy: Any, samples: Any) -> None:
    first = address(call(toy, samples(40)))
    assert address(call(toy, samples(40), OTHER)) != first
    assert address(call(toy, samples(40))) == first


def test_a_small_call_does_not_take_a_large_block(toy: Any, samples: Any) -> None:
    large = address(call(toy, samples(4000)))
    assert address(call(toy, samples(4))) != large


class TestCapture:
    def test_memory_stays_with_the_graph(self, fake: FakeDriver, open_toy: Any, samples: Any) -> None:
        toy = open_toy(scratch=77)
        stream = 0x9000
        outside = address(call(toy, samples(40), stream))
        fake.capture(stream, 11)
        captured = [address(call(toy, samples(40), stream)) for _ in range(2)]
        fake.end_capture(stream)
        assert captured[0] == captured[1] != outside  # one call after another in the graph
        scratch = [launch["scratch"] for launch in fake.launches()]
        assert scratch[0] != scratch[1] == scratch[2]
        assert address(call(toy, samples(40), stream)) == outside
        fake.clear()
        fake.destroy_graph(11)
        assert fake.log("cuMemFree") == []  # a graph ends where the driver must not be called
        call(toy, samples(4000), stream)
        assert len(fake.log("cuMemFree")) == 2

    def test_results_outlive_the_graph(self, fake: FakeDriver, toy: Any, samples: Any) -> None:
        fake.capture(0x9010, 12)
        held = call(toy, samples(40), 0x9010)
        fake.end_capture(0x9010)
        fake.destroy_graph(12)
        before = held.numpy()
        fake.clear()
        call(toy, samples(8000), 0x9020)
        assert fake.log("cuMemFree") == []
        np.testing.assert_array_equal(held.numpy(), before)

    def test_captured_kernels_stay_loaded(self, fake: FakeDriver, open_toy: Any, samples: Any) -> None:
        toy = open_toy()
        fake.capture(0x9030, 13)
        call(toy, samples(2), 0x9030)
        fake.end_capture(0x9030)
        del toy
        assert fake.log("cuModuleUnload") == []
        fake.destroy_graph(13)

    def test_streams_outside_of_the_graph_are_not_waited_for(self, fake: FakeDriver, toy: Any, samples: Any) -> None:
        q, qd = samples(2)
        fake.capture(0x9040, 14)
        toy((InterfaceArray(q, OTHER), InterfaceArray(qd), None, None, None, None), None, 0x9040)
        fake.end_capture(0x9040)
        assert fake.log("cuStreamWaitEvent") == []
        fake.destroy_graph(14)


class TestExhaustion:
    def test_scratch_takes_a_part_of_the_device_only(self, open_toy: Any) -> None:
        """The device has 8 GiB; a sixteenth of it holds the scratch of 4 blocks."""
        toy = open_toy(scratch=(128 << 20) // 8)
        assert [kernel["resident"] for kernel in toy.unit.kernels] == [4, 4, 4, 4]

    def test_fewer_blocks_take_turns_where_memory_is_short(self, fake: FakeDriver, open_toy: Any, samples: Any) -> None:
        toy = open_toy(scratch=100_000)
        out = np.zeros((1000, NV))
        fake.fail("cuMemAlloc", 2)
        call(toy, samples(1000), out=InterfaceArray(out))
        assert fake.launches()[-1]["blocks"] == 32
        fake.fail_always("cuMemAlloc", 2)
        with pytest.raises(DeviceMemoryError, match="use a smaller batch"):
            call(toy, samples(1000), OTHER, out=InterfaceArray(out))
        fake.fail_always("cuMemAlloc", 0)
        sizes = [int(size) for (size,) in fake.log("cuMemAlloc")]
        assert sizes[-1] < sizes[0]

    def test_unused_blocks_are_freed_first(self, fake: FakeDriver, toy: Any, samples: Any) -> None:
        call(toy, samples(3000))
        fake.clear()
        fake.fail("cuMemAlloc", 2)
        assert call(toy, samples(20000)).shape == (20000, NV)
        assert len(fake.log("cuMemAlloc")) == 2
        assert fake.log("cuMemFree") != []

    def test_then_the_error_says_what_is_left(self, fake: FakeDriver, open_toy: Any, samples: Any) -> None:
        toy = open_toy()
        call(toy, samples(1))
        arrays = samples(30000)
        fake.fail_always("cuMemAlloc", 2)
        with pytest.raises(
            DeviceMemoryError, match="'cuda:0' has no 2048 KiB left: 1 of 8192 MiB are free; use a smaller"
        ):
            call(toy, arrays)
        fake.fail_always("cuMemAlloc", 0)
        assert call(toy, arrays).shape == (30000, NV)
