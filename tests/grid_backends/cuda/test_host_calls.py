"""Calls on NumPy arrays: chunks through page-locked memory, and arrays that are page-locked already."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from grid_backends.native import is_pinned, pinned_empty
from tests.grid_backends.cuda.fakes import FakeDriver
from tests.grid_backends.toys import expected

NV, NQ = 8, 9
CHUNK = 2 << 20


def call(function: Any, q: Any, qd: Any, out: Any = None, threads: int = 1, **more: Any) -> Any:
    names = ("qdd", "gravity", "f_ext", "probe")
    return function((q, qd, *(more.get(n) for n in names)), out, None, threads)


def pinned(array: np.ndarray) -> np.ndarray:
    result = pinned_empty(array.shape, array.dtype)
    result[...] = array
    return result


@pytest.mark.parametrize("batch", [(), (0,), (1,), (31,), (33,), (1000,), (20000,)])
@pytest.mark.parametrize("threads", [1, 4])
def test_evaluates_a_batch_or_one_sample(toy: Any, samples: Any, batch: tuple[int, ...], threads: int) -> None:
    q, qd = samples(*batch)
    tau = call(toy, q, qd, threads=threads)
    assert type(tau) is np.ndarray
    assert tau.shape == (*batch, NV)
    np.testing.assert_allclose(tau, expected(q, qd))


def test_shared_and_optional_inputs(open_toy: Any, samples: Any, rng: np.random.Generator) -> None:
    toy = open_toy()
    (q, _), (_, qd) = samples(), samples(5000)
    f_ext, qdd = rng.normal(size=(5000, 18)), rng.normal(size=NV)
    tau = call(toy, q, qd, qdd=qdd, gravity=1.5, f_ext=f_ext)
    np.testing.assert_allclose(tau, expected(q, qd, qdd, 1.5, f_ext))
    tau = call(toy, q, qd, f_ext=f_ext[0], qdd=qdd)
    np.testing.assert_allclose(tau, expected(q, qd, qdd, f_ext=f_ext[0]))


def test_rows_may_be_apart(toy: Any, samples: Any) -> None:
    q, qd = samples(9000)
    wide = np.concatenate([q, qd], axis=1)
    out = np.zeros((4500, 2 * NV))
    result = call(toy, wide[::2, :NQ], wide[::2, NQ:], out=out[:, :NV])
    assert result.base is out
    np.testing.assert_allclose(out[:, :NV], expected(q, qd)[::2])
    assert not out[:, NV:].any()


def test_several_results(open_toy: Any, samples: Any) -> None:
    q, qd = samples(700)
    result = call(open_toy("pair_of_toys"), q, qd)
    np.testing.assert_allclose(result.tau, expected(q, qd))
    np.testing.assert_allclose(result.outer, qd[:, :, None] * np.arange(1, NV + 1))


def test_large_batches_go_in_chunks_on_two_streams(fake: FakeDriver, toy: Any, samples: Any) -> None:
    call(toy, *samples(50_000))  # 136 bytes a sample in, results in place
    launches = fake.launches()
    assert [launch["batch"] for launch in launches] == [12_512, 12_512, 12_512, 12_464]
    assert CHUNK > 12_512 * 136
    streams = [launch["stream"] for launch in launches]
    assert len(set(streams)) == 2
    assert all(a != b for a, b in pairwise(streams))
    events = [name for name in fake.names() if name in ("cuLaunchKernel", "cuStreamSynchronize")]
    assert events[:3] == ["cuLaunchKernel", "cuLaunchKernel", "cuStreamSynchronize"]  # one is filled while one runs


@pytest.mark.parametrize(("batch", "launches"), [(100, 1), (3855, 1), (4000, 2), (30_000, 2), (40_000, 3)])
def test_the_number_of_chunks_follows_the_size(
    fake: FakeDriver, toy: Any, samples: Any, batch: int, launches: int
) -> None:
    call(toy, *samples(batch))
    assert len(fake.launches()) == launches


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("batch", [1, 33, 20_001, 40_000])
def test_the_batch_may_be_last(fake: FakeDriver, toy: Any, samples: Any, batch: int, threads: int) -> None:
    """Chunks of it are copied one entry after another; page-locked memory is used in place."""
    q, qd = samples(batch)
    toy.set_batch_last(True)
    columns = np.ascontiguousarray(q.T)
    tau = call(toy, columns.T, qd, threads=threads)
    assert tau.T.flags.c_contiguous
    np.testing.assert_allclose(tau, expected(q, qd))
    out, locked = np.zeros((NV, batch + 7)), pinned_empty((NV, batch + 7), np.dtype("f8"))
    for memory in (out, locked):
        memory[...] = 0
        fake.clear()
        call(toy, q, pinned(qd.T).T, memory[:, :batch].T, threads=threads)
        np.testing.assert_allclose(memory[:, :batch].T, expected(q, qd))
        assert not memory[:, batch:].any()


def test_page_locked_arrays_are_used_in_place(fake: FakeDriver, toy: Any, samples: Any) -> None:
    q, qd = samples(20000)
    out = pinned_empty((20000, NV), np.dtype("f8"))
    assert call(toy, pinned(q), pinned(qd), out=out) is out
    np.testing.assert_allclose(out, expected(q, qd))
    assert [launch["batch"] for launch in fake.launches()] == [20000]


def test_large_results_are_page_locked_small_ones_are_not(toy: Any, samples: Any) -> None:
    large = call(toy, *samples(5000))
    assert is_pinned(large)
    assert not is_pinned(call(toy, *samples(5)))


def test_the_memory_of_results_is_reused(toy: Any, samples: Any) -> None:
    held = call(toy, *samples(5000))
    other = call(toy, *samples(5000))
    addresses = {held.ctypes.data, other.ctypes.data}
    assert len(addresses) == 2
    del held, other
    assert call(toy, *samples(5000)).ctypes.data in addresses


def test_nothing_is_allocated_after_the_first_call(fake: FakeDriver, toy: Any, samples: Any) -> None:
    call(toy, *samples(20000))
    fake.clear()
    for batch in (20000, 19000, 10, 20000):
        call(toy, *samples(batch))
    assert not {"cuMemAlloc", "cuStreamCreate", "cuModuleLoadData"} & set(fake.names())
    fake.clear()
    for batch in (20000, 19000, 10, 20000):
        call(toy, *samples(batch))
    assert "cuMemHostAlloc" not in fake.names()


def test_threads_may_call_at_once(toy: Any, samples: Any) -> None:
    cases = [samples(3000 + i) for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda case: call(toy, *case), cases))
    for (q, qd), tau in zip(cases, results):
        np.testing.assert_allclose(tau, expected(q, qd))


def test_a_failed_launch_leaves_streams_and_memory_usable(fake: FakeDriver, toy: Any, samples: Any) -> None:
    q, qd = samples(20000)
    call(toy, q, qd)
    fake.fail("cuLaunchKernel", 1)
    with pytest.raises(RuntimeError, match="launching kernel"):
        call(toy, q, qd)
    np.testing.assert_allclose(call(toy, q, qd), expected(q, qd))


@pytest.mark.parametrize("value", [[1.0] * NQ, np.zeros(NQ, int), np.zeros((2, 3, NQ))])
def test_arguments_that_have_to_be_normalised_are_declined(toy: Any, value: Any) -> None:
    assert call(toy, value, np.zeros(NV)) is NotImplemented


def test_pinned_empty_has_shape_and_dtype(fake: FakeDriver) -> None:
    array = pinned_empty((3, 4), np.dtype("f4"))
    assert (array.shape, array.dtype) == ((3, 4), "f4")
    assert is_pinned(array)
    assert is_pinned(array[1:])
    assert not is_pinned(array[:, 1:])
    assert not is_pinned(np.zeros((3, 4)))
    assert pinned_empty((0,), np.dtype("f8")).size == 0
