"""A sample's result does not depend on its company: batch size, place in the batch, threads and batch axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluation import Inputs, dynamics, inputs_of, random_inputs
from tests.oracle.robots import GOLDEN, MIXED, Robot

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65)
"""Around every number of lanes that a pack may have."""

ROBOTS = {"iiwa14": GOLDEN["iiwa14"], "panda": GOLDEN["panda"], "mixed floating": MIXED["mixed floating"]}
CASES = [pytest.param(robot, name, id=f"{label}-{name}") for label, robot in ROBOTS.items() for name in dynamics()]


@pytest.fixture(params=["float64", "float32"])
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def call(robot: Robot, name: str, dtype: str, compiled: Callable[..., Any]) -> Callable[..., Any]:
    handle = compiled(robot.urdf, floating_base=robot.floating_base, dtype=dtype)
    return lambda threads=1, **inputs: _run(handle, name, threads, inputs)


def _run(handle: Any, name: str, threads: int, inputs: Inputs) -> Any:
    before, handle.threads = handle.threads, threads
    try:
        return getattr(handle, name)(**inputs)
    finally:
        handle.threads = before


@pytest.fixture
def inputs(robot: Robot, name: str) -> Inputs:
    return inputs_of(name, random_inputs(robot.model(), 1, 1000))


def part(inputs: Inputs, where: Any) -> Inputs:
    return {key: value[where] for key, value in inputs.items()}


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_rows_equal_the_samples_alone(call: Callable[..., Any], inputs: Inputs) -> None:
    for given in (inputs, {key: value for key, value in inputs.items() if key != "f_ext"}):
        whole = call(**given)
        for size in SIZES:
            np.testing.assert_array_equal(call(**part(given, slice(size))), whole[:size])
        for first in (1, 2, 3, 5, 991, 999):
            np.testing.assert_array_equal(call(**part(given, slice(first, None))), whole[first:])
        for row in (*range(33), 999):
            np.testing.assert_array_equal(call(**part(given, row)), whole[row])
        np.testing.assert_array_equal(call(threads=2, **given), whole)


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_batch_axes_and_shared_arguments(call: Callable[..., Any], inputs: Inputs) -> None:
    inputs = part(inputs, slice(30))
    whole = call(**inputs)
    folded = call(**{key: value.reshape(2, 3, 5, -1) for key, value in inputs.items()})
    np.testing.assert_array_equal(folded, whole.reshape(2, 3, 5, *whole.shape[1:]))
    for key in inputs:
        shared = inputs | {key: inputs[key][4]}
        repeated = inputs | {key: np.tile(inputs[key][4], (30, 1))}
        if len(inputs) > 1:
            np.testing.assert_array_equal(call(**shared), call(**repeated))


def batch_last(array: np.ndarray) -> np.ndarray:
    """Return an equal array whose first axis is the last in memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 0, -1)), -1, 0)


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_the_order_in_memory_does_not_matter(call: Callable[..., Any], inputs: Inputs) -> None:
    whole = call(**inputs)
    for size in (*SIZES, 1000):
        given = part(inputs, slice(size))
        out = batch_last(np.full_like(whole[:size], np.nan))
        call(out=out, **given)
        np.testing.assert_array_equal(out, whole[:size])
        np.testing.assert_array_equal(call(**{key: batch_last(value) for key, value in given.items()}), whole[:size])
    out = batch_last(np.zeros_like(whole))
    call(threads=2, out=out, **{key: batch_last(value) for key, value in inputs.items()})
    np.testing.assert_array_equal(out, whole)


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_a_bad_sample_stays_alone(call: Callable[..., Any], inputs: Inputs) -> None:
    inputs = part(inputs, slice(35))
    whole = call(**inputs)
    for key in inputs:
        for value in (np.nan, np.inf):
            spoilt = {k: v.copy() for k, v in inputs.items()}
            spoilt[key][[3, 20, 34]] = value
            good = np.setdiff1d(np.arange(35), [3, 20, 34])
            np.testing.assert_array_equal(call(**spoilt)[good], whole[good])
