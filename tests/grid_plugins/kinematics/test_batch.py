"""A sample's result does not depend on its company: batch size, place in the batch, threads, bad neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluation import Inputs, inputs_of
from tests.oracle.poses import COMPILED_DAILY, PLAIN, kinematic_inputs, with_contacts
from tests.oracle.robots import MIXED

SIZES = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33)
CASES = [pytest.param(label, dtype, name, id=f"{label}-{name}") for label, dtype in COMPILED_DAILY for name in PLAIN]


@pytest.fixture
def call(label: str, dtype: str, name: str, compiled: Callable[..., Any]) -> Callable[..., Any]:
    robot = MIXED[label]
    contacts = with_contacts(robot.model()).contact_frames
    handle = compiled(robot.urdf, floating_base=robot.floating_base, dtype=dtype, contact_frames=contacts)
    return lambda threads=1, **inputs: run(handle, name, threads, inputs)


def run(handle: Any, name: str, threads: int, inputs: Inputs) -> Any:
    before, handle.threads = handle.threads, threads
    try:
        return getattr(handle, name)(**inputs)
    finally:
        handle.threads = before


@pytest.fixture
def inputs(label: str, name: str) -> Inputs:
    model = MIXED[label].model()
    return inputs_of(name, kinematic_inputs(model, with_contacts(model), 1, 60))


def part(inputs: Inputs, where: Any) -> Inputs:
    return {key: value[where] for key, value in inputs.items()}


@pytest.mark.parametrize(("label", "dtype", "name"), CASES)
def test_rows_equal_the_samples_alone(call: Callable[..., Any], inputs: Inputs) -> None:
    whole = call(**inputs)
    for size in SIZES:
        np.testing.assert_array_equal(call(**part(inputs, slice(size))), whole[:size])
    for first in (1, 5, 50):
        np.testing.assert_array_equal(call(**part(inputs, slice(first, None))), whole[first:])
    for row in (0, 11, 59, 60, -1):
        np.testing.assert_array_equal(call(**part(inputs, row)), whole[row])
    np.testing.assert_array_equal(call(threads=2, **inputs), whole)
    folded = call(**{key: value[:60].reshape(3, 20, *value.shape[1:]) for key, value in inputs.items()})
    np.testing.assert_array_equal(folded, whole[:60].reshape(3, 20, *whole.shape[1:]))


@pytest.mark.parametrize(("label", "dtype", "name"), CASES)
def test_a_bad_sample_stays_alone(call: Callable[..., Any], inputs: Inputs) -> None:
    whole, good = call(**inputs), np.setdiff1d(np.arange(len(inputs["q"])), [3, 20, 34])
    for value in (np.nan, np.inf):
        spoilt = {**inputs, "q": inputs["q"].copy()}
        spoilt["q"][[3, 20, 34]] = value
        np.testing.assert_array_equal(call(**spoilt)[good], whole[good])
