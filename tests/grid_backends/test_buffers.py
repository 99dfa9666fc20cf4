"""Results in the caller's memory, on compiled units and on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grid_backends.numpy import RobotHandle
from grid_core.errors import ArgumentError
from tests.grid_backends.toys import expected

NV, NQ = 8, 9
TOTAL = NV + NV * NV


@pytest.fixture(params=["float64", "int64"])
def sample(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    """Three samples; integers cannot be passed to a unit as they are."""
    rng = np.random.default_rng(3)
    return rng.integers(-9, 9, (3, NQ)).astype(request.param), rng.integers(-9, 9, (3, NV)).astype(request.param)


def outer(qd: np.ndarray) -> np.ndarray:
    return qd[..., None] * np.arange(1, NV + 1)


def test_result_is_written_and_returned(handle: RobotHandle, sample: Any) -> None:
    out = np.empty((3, NV))
    assert handle.toy(*sample, out=out) is out
    np.testing.assert_allclose(out, expected(*sample))


def test_rows_may_be_apart(handle: RobotHandle, sample: Any) -> None:
    memory = np.full((3, NV + 1), np.nan)
    assert np.shares_memory(handle.toy(*sample, out=memory[:, :NV]), memory)
    np.testing.assert_allclose(memory[:, :NV], expected(*sample))
    assert np.isnan(memory[:, NV]).all()


@pytest.mark.parametrize("batch", [(), (0,), (3,), (2, 2)])
def test_a_tuple_serves_several_results(handle: RobotHandle, batch: tuple[int, ...], rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=(*batch, NQ)), rng.normal(size=(*batch, NV))
    out = np.empty((*batch, NV)), np.empty((*batch, NV * NV))
    result = handle.pair_of_toys(q, qd, out=out)
    assert result.outer.shape == (*batch, NV, NV)
    np.testing.assert_allclose(out[0], expected(q, qd))
    np.testing.assert_allclose(out[1].reshape(result.outer.shape), outer(qd))


@pytest.mark.parametrize("batch", [(), (0,), (3,), (2, 2)])
def test_a_flat_buffer_serves_several_results(
    handle: RobotHandle, batch: tuple[int, ...], rng: np.random.Generator
) -> None:
    q, qd = rng.normal(size=(*batch, NQ)), rng.normal(size=(*batch, NV))
    memory = np.empty((*batch, TOTAL))
    result = handle.pair_of_toys(q, qd, out=memory)
    assert not memory.size or all(np.shares_memory(r, memory) for r in result)
    np.testing.assert_allclose(result.tau, expected(q, qd))
    np.testing.assert_allclose(result.outer, outer(qd))
    np.testing.assert_array_equal(memory[..., :NV], result.tau)


def test_memory_shared_with_inputs_is_safe(handle: RobotHandle, sample: Any) -> None:
    q, qd = sample
    answer = expected(q, qd)
    memory = np.zeros(5 * NV)
    memory[: 3 * NV] = qd.ravel()
    out = memory[NV : 4 * NV].reshape(3, NV)
    handle.toy(q, memory[: 3 * NV].reshape(3, NV), out=out)
    np.testing.assert_allclose(out, answer)
    same = qd.astype(float)
    assert handle.toy(q, same, out=same) is same
    np.testing.assert_allclose(same, answer)


def read_only() -> np.ndarray:
    array = np.empty((3, NV))
    array.setflags(write=False)
    return array


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((4, NV)), r"out for 'tau' has shape \(4, 8\), expected \(3, 8\)"),
        (np.empty((3, NV), "f4"), "has dtype float32, expected float64, the dtype of the build"),
        (read_only(), "read-only or misaligned"),
        (np.empty((3, 2 * NV))[:, ::2], "pass a C-contiguous array"),
        (np.empty((3, NV))[::-1], "pass a C-contiguous array"),
        ([0.0] * NV, "is a list, expected a NumPy array of float64"),
    ],
)
def test_unfit_memory_is_refused(handle: RobotHandle, sample: Any, out: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        handle.toy(*sample, out=out)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((3, TOTAL + 1)), r"has shape \(3, 73\), expected \(3, 72\), or a tuple of 2 arrays"),
        ((np.empty((3, NV)),), r"neither one flat buffer nor a tuple of arrays for \(tau, outer\)"),
        ("buffer", "neither one flat buffer"),
        (
            (np.empty((3, NV)), np.empty((3, NV))),
            r"out for 'outer' has shape \(3, 8\), expected \(3, 8, 8\) or \(3, 64\)",
        ),
    ],
)
def test_unfit_memory_for_several_results_is_refused(handle: RobotHandle, sample: Any, out: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        handle.pair_of_toys(*sample, out=out)


def test_results_may_not_overlap_each_other(handle: RobotHandle, sample: Any) -> None:
    memory = np.empty(3 * TOTAL)
    out = memory[: 3 * NV].reshape(3, NV), memory[NV : NV + 3 * NV * NV].reshape(3, NV, NV)
    with pytest.raises(ArgumentError, match="overlap each other"):
        handle.pair_of_toys(*sample, out=out)


def test_memory_without_batch_axis_cannot_hold_a_batch(handle: RobotHandle) -> None:
    with pytest.raises(ArgumentError, match=r"has shape \(1, 8\), expected \(8,\)"):
        handle.toy(np.zeros(NQ), np.zeros(NV), out=np.empty((1, NV)))
