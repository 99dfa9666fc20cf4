"""Device time by launch shape, on a driver whose graphs all take 3 ms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grid_backends.numpy.shape_times import shape_times
from grid_core.model import Model
from tests.grid_backends.cuda.fakes import FakeDriver
from tests.grid_backends.toys import make_record


def test_every_shape_is_timed(fake: FakeDriver, open_toy: Any, model: Model, rng: np.random.Generator) -> None:
    toy = open_toy(warps=(1, 4, 16))
    arguments = {"q": rng.normal(size=(600, model.nq)), "qd": rng.normal(size=(600, model.nv))}
    fake.clear()
    found = shape_times(make_record(model, device="cuda"), toy, "toy", arguments)
    assert found.seconds == pytest.approx(dict.fromkeys(["w1", "w4", "w16"], 3e-3 / 20))
    assert found.estimated == "w1"
    kernels = {launch["kernel"] for launch in fake.launches()}
    assert kernels == {f"toy_without_qdd_{shape}" for shape in found.seconds}
    assert toy.shape_for([True] * 6, 600) == "w1", "no profile is left behind"
