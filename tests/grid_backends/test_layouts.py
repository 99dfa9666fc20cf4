"""Results and arguments with the batch last in memory: compiled units, a GPU that is pretended, and the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grid_backends.numpy import RobotHandle
from grid_core.errors import ArgumentError, OptionError
from tests.grid_backends.toys import expected

NV, NQ = 8, 9
BATCHES = [(), (0,), (1,), (3,), (33,), (300,), (2, 5), (2, 1, 3)]


@pytest.fixture
def last(handle: RobotHandle) -> RobotHandle:
    handle.output_layout = "batch_last"
    return handle


@pytest.fixture
def sample(rng: np.random.Generator) -> Any:
    def made(*batch: int) -> tuple[np.ndarray, np.ndarray]:
        return rng.normal(size=(*batch, NQ)), rng.normal(size=(*batch, NV))

    return made


def outer(qd: np.ndarray) -> np.ndarray:
    return qd[..., None] * np.arange(1, NV + 1)


def memory_of(array: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
    """Return an array with its batch axes behind the others."""
    return np.moveaxis(array, range(len(batch)), range(array.ndim - len(batch), array.ndim))


def batch_last(array: np.ndarray, batch: tuple[int, ...] = (0,)) -> np.ndarray:
    """Return an equal array whose batch is last in memory."""
    copy = np.ascontiguousarray(memory_of(array, batch))
    return np.moveaxis(copy, range(array.ndim - len(batch), array.ndim), range(len(batch)))


@pytest.mark.parametrize("batch", BATCHES)
def test_results_have_the_batch_last(last: RobotHandle, sample: Any, batch: tuple[int, ...]) -> None:
    q, qd = sample(*batch)
    tau = last.toy(q, qd)
    assert tau.shape == (*batch, NV)
    assert memory_of(tau, batch).flags.c_contiguous
    np.testing.assert_allclose(tau, expected(q, qd))
    result = last.pair_of_toys(q.tolist() if q.size else q, qd)
    assert all(memory_of(array, batch).flags.c_contiguous for array in result)
    np.testing.assert_allclose(result.outer, outer(qd).reshape(*batch, NV, NV))


def test_the_default_is_batch_first(handle: RobotHandle, sample: Any) -> None:
    assert handle.output_layout == "batch_first"
    assert handle.toy(*sample(3)).flags.c_contiguous
    handle.output_layout = "batch_last"
    assert handle.toy(*sample(3)).T.flags.c_contiguous
    handle.output_layout = "batch_first"
    assert handle.toy(*sample(3)).flags.c_contiguous


def test_other_layouts_are_refused(handle: RobotHandle) -> None:
    with pytest.raises(OptionError, match="output_layout is 'columns', expected 'batch_first' or 'batch_last'"):
        handle.output_layout = "columns"


@pytest.mark.parametrize("batch", BATCHES[1:])
def test_arguments_may_have_the_batch_last(handle: RobotHandle, sample: Any, batch: tuple[int, ...]) -> None:
    q, qd = sample(*batch)
    np.testing.assert_allclose(handle.toy(batch_last(q, batch), qd), expected(q, qd))
    np.testing.assert_allclose(handle.toy(q, batch_last(qd.astype("f4"), batch)), expected(q, qd.astype("f4")))


@pytest.mark.parametrize("batch", BATCHES[1:])
def test_out_may_have_the_batch_last(handle: RobotHandle, sample: Any, batch: tuple[int, ...]) -> None:
    q, qd = sample(*batch)
    out = batch_last(np.zeros((*batch, NV)), batch)
    assert handle.toy(q, qd, out=out) is out
    np.testing.assert_allclose(out, expected(q, qd))
    flat = batch_last(np.zeros((*batch, NV * NV)), batch)
    tau = np.zeros((*batch, NV))
    result = handle.pair_of_toys(q, qd, out=(tau, flat))
    assert not flat.size or np.shares_memory(result.outer, flat)
    np.testing.assert_allclose(flat.reshape(result.outer.shape), outer(qd))
    np.testing.assert_allclose(tau, expected(q, qd))


def test_one_buffer_serves_several_results(handle: RobotHandle, sample: Any) -> None:
    q, qd = sample(5)
    memory = np.zeros((NV + NV * NV, 5))
    result = handle.pair_of_toys(q, qd, out=memory.T)
    assert np.shares_memory(result.outer, memory)
    np.testing.assert_allclose(memory[:NV].T, expected(q, qd))
    np.testing.assert_allclose(memory[NV:].T.reshape(5, NV, NV), outer(qd))


def test_only_a_part_of_a_wider_batch_is_written(handle: RobotHandle, sample: Any) -> None:
    q, qd = sample(4)
    memory = np.full((NV, 10), np.nan)
    handle.toy(q, qd, out=memory[:, 3:7].T)
    np.testing.assert_allclose(memory[:, 3:7].T, expected(q, qd))
    assert np.isnan(np.delete(memory, range(3, 7), axis=1)).all()
    wide = np.full((NQ, 10), np.nan)
    wide[:, 3:7] = q.T
    np.testing.assert_allclose(handle.toy(wide[:, 3:7].T, qd), expected(q, qd))


def test_memory_shared_with_inputs_is_safe(handle: RobotHandle, sample: Any) -> None:
    q, qd = sample(4)
    answer = expected(q, qd)
    memory = np.zeros((NV, 4))
    memory[...] = qd.T
    handle.toy(q, memory.T, out=memory.T)
    np.testing.assert_allclose(memory.T, answer)
    rows = batch_last(qd)
    handle.toy(q, rows, out=rows)
    np.testing.assert_allclose(rows, answer)


@pytest.mark.parametrize(
    "out", [np.empty((NV, 6)).T[::2], np.empty((NV, 3))[::-1].T, np.empty((2 * NV, 3)).T.reshape(3, 2, NV)[:, 0, ::-1]]
)
def test_other_orders_are_refused(handle: RobotHandle, sample: Any, out: np.ndarray) -> None:
    with pytest.raises(ArgumentError, match=r"has strides .*whose batch axes are the last in memory"):
        handle.toy(*sample(3), out=out)
