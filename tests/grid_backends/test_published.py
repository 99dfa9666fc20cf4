"""Calls by a key, as compiled front-ends make them: through the table of `grid_bridge.h`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.grid_backends.bridge import Call, connect
from tests.grid_backends.robots import URDF


@pytest.fixture(scope="module")
def bridge() -> Call:
    return connect()


@pytest.fixture(scope="module")
def robot(compiled: Callable[..., Any]) -> Any:
    return compiled(URDF)


@pytest.fixture
def published(robot: Any) -> Iterator[str]:
    from grid_backends.native import publish, withdraw

    robot.inverse_dynamics(robot.neutral(), np.zeros(robot.nv))
    publish("rnea", robot._calls[robot._places["inverse_dynamics"]], [0, 2, 1])
    yield "rnea"
    withdraw("rnea")


def test_arguments_come_in_the_order_that_was_published(robot: Any, published: str, bridge: Call) -> None:
    q = robot.random(seed=0, n=2000)
    qd, qdd = np.random.default_rng(0).standard_normal((2, 2000, robot.nv)).astype(np.float32)
    shared, expected = qdd[0].copy(), robot.inverse_dynamics(q, qd, qdd[0], gravity=0.0)
    result = np.empty((2000, robot.nv), np.float32)

    def once(_: int) -> bool:
        own = np.empty_like(result)
        return bridge(published, [q, shared, qd], [own]) is None and np.array_equal(own, expected)

    assert bridge(published, [q, shared, qd], [result]) is None
    np.testing.assert_array_equal(result, expected)
    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(once, range(16)))
    assert bridge(published, [q[:0], shared, qd[:0]], [result[:0]]) is None


def test_what_is_refused(robot: Any, published: str, bridge: Call) -> None:
    q, result = robot.neutral(), np.zeros(robot.nv, np.float32)
    assert "another number of arrays" in str(bridge(published, [q], [result]))
    assert "'qd' has 1 scalars, expected" in str(bridge(published, [q, result, q[:1]], [result]))
    assert "the robot is on the CPU, and the program" in str(bridge(published, [q, result, result], [result], on_gpu=1))
    assert "no function 'aba' is open in this process" in str(bridge("aba", [q], [result]))
    from grid_backends.native import publish

    with pytest.raises(RuntimeError, match="no such input"):
        publish("rnea", robot._calls[robot._places["inverse_dynamics"]], [99])


def test_the_header_says_what_the_table_is() -> None:
    import grid_backends.native

    text = (Path(grid_backends.native.__file__).parent / "grid_bridge.h").read_text("utf-8")
    assert "#define GRID_BRIDGE_ABI 1u" in text
