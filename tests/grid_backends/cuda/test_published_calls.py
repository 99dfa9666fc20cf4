"""Calls by a key on a GPU, from threads that do not hold Python's lock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.grid_backends.bridge import Call, connect
from tests.grid_backends.cuda.fakes import FakeDriver
from tests.grid_backends.toys import expected

# Front-ends pass default values as arrays.
GRAVITY = np.array([0.0, 0.0, -9.81])


@pytest.fixture
def bridge() -> Call:
    return connect()


@pytest.fixture
def published(toy: Any) -> Iterator[str]:
    from grid_backends.native import publish, withdraw

    publish("toy", toy, [0, 1, 3])
    yield "toy"
    withdraw("toy")


def test_the_first_call_loads_the_unit(bridge: Call, published: str, fake: FakeDriver, samples: Any) -> None:
    q, qd = samples(40)
    tau = np.zeros_like(qd)
    assert bridge(published, [q, qd, GRAVITY], [tau], on_gpu=1) is None
    np.testing.assert_allclose(tau, expected(q, qd))
    assert fake.names().count("cuModuleLoadData") == 2
    assert bridge(published, [q, qd, GRAVITY], [tau], on_gpu=1) is None
    assert fake.names().count("cuModuleLoadData") == 2


def test_work_runs_where_its_results_are(
    bridge: Call, published: str, toy: Any, fake: FakeDriver, samples: Any
) -> None:
    """A program that is divided among devices calls one function on all of them."""
    q, qd = samples(40)
    near, far = np.zeros_like(qd), np.zeros_like(qd)
    fake.place(far, 1)
    toy.set_most_threads(128)
    for tau in (near, far, near, far):
        assert bridge(published, [q, qd, GRAVITY], [tau], on_gpu=1) is None
        np.testing.assert_allclose(tau, expected(q, qd))
    assert sorted(fake.log("cuModuleLoadData")) == [["0"], ["0"], ["1"], ["1"]]
    assert {launch["threads"] for launch in fake.launches()} == {128}


def test_a_device_that_cannot_be_used_is_an_error(bridge: Call, published: str, fake: FakeDriver, samples: Any) -> None:
    q, qd = samples(3)
    tau = np.zeros_like(qd)
    fake.place(tau, 7)
    said = bridge(published, [q, qd, GRAVITY], [tau], on_gpu=1)
    assert said is not None
    assert "cuda:7" in said
