"""Methods that call a step again and again: states, what is beside the step, numbers of steps, memory, errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grid_backends.numpy import ReferenceFunctions, RobotHandle, RobotRecord
from grid_core.errors import ArgumentError, OptionError, OutOfMemoryError
from grid_core.model import Model
from grid_core.plugins.algorithm import Choice, Output, Scan
from tests.grid_backends.toys import OUTER, TAU, TOY, declare, evaluate, expected

SLOW = declare("slow_toy", (TAU,))
TABLE = declare("table_of_toys", (OUTER,))
WAYS = Choice("way", "quick", {"quick": "toy", "slow": "slow_toy"}, "How to get there.")
ANY = replace(TOY, name="any_toy", emit=None, requires=("toy", "slow_toy"), choice=WAYS, aliases=())
PATH = Output("path", ("nv",), "Velocities on the way.")
MARCH = replace(
    ANY,
    name="march",
    outputs=(PATH,),
    choice=None,
    requires=("any_toy",),
    scan=Scan("any_toy", ("qd",), ("qdd", "f_ext")),
)
SURVEY = replace(
    MARCH,
    name="survey",
    outputs=(PATH, OUTER),
    requires=("any_toy", "table_of_toys"),
    scan=Scan("any_toy", ("qd",), ("qdd", "f_ext"), ("table_of_toys",)),
)


def steps_of_toys(name: str, inputs: dict[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    scale = {"slow_toy": 0.5}.get(name, 1.0)
    found = evaluate("pair_of_toys" if name == "table_of_toys" else "toy", inputs)
    return {key: scale * value for key, value in found.items()}


@pytest.fixture
def robot(model: Model) -> Any:
    declared = {a.name: a for a in (TOY, SLOW, TABLE, ANY, MARCH, SURVEY)}
    record = RobotRecord("flyer", model, declared, ("toy", "slow_toy", "table_of_toys"), "float64")
    return RobotHandle(record, ReferenceFunctions(record, steps_of_toys))


def walk(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, scale: float = 1.0, **more: Any) -> np.ndarray:
    path = [qd]
    for step in range(qdd.shape[-2]):
        path.append(scale * expected(q, path[-1], qdd[..., step, :], **more))
    return np.stack(path, axis=-2)


@pytest.fixture
def sample(model: Model, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    return model.random(0, 4), rng.normal(size=(4, model.nv)), rng.normal(size=(4, 3, model.nv))


def test_the_state_is_carried(robot: Any, sample: Any) -> None:
    q, qd, qdd = sample
    np.testing.assert_allclose(robot.march(q, qd, qdd), walk(q, qd, qdd), rtol=1e-14)
    slow = robot.march(q, qd, qdd, way="slow", gravity=-1.0)
    np.testing.assert_allclose(slow, walk(q, qd, qdd, 0.5, gravity=-1.0), rtol=1e-14)
    with pytest.raises(OptionError, match="any_toy: way is 'slowly', expected one of quick, slow"):
        robot.march(q, qd, qdd, way="slowly")
    assert robot.capabilities()["march"]["built"]


@pytest.mark.parametrize("batch", [(), (4,), (2, 2), (0,)])
@pytest.mark.parametrize("count", [0, 1, 3, 7])
def test_batch_axes_and_numbers_of_steps(robot: Any, model: Model, batch: tuple[int, ...], count: int) -> None:
    generator = np.random.default_rng(1)
    qd, qdd = generator.normal(size=(*batch, model.nv)), generator.normal(size=(*batch, count, model.nv))
    q = generator.normal(size=(*batch, model.nq))
    path, outer = robot.survey(q, qd, qdd)
    assert path.shape == (*batch, count + 1, model.nv)
    assert outer.shape == (*batch, count, model.nv, model.nv)
    np.testing.assert_allclose(path, walk(q, qd, qdd), rtol=1e-13)
    np.testing.assert_allclose(outer, path[..., :-1, :, None] * np.arange(1.0, model.nv + 1), rtol=1e-13)


def test_one_row_serves_all_steps_and_one_row_of_steps_all_samples(robot: Any, sample: Any) -> None:
    q, qd, qdd = sample
    wrenches = np.ones((4, 1, robot.nb * 6))
    more = robot.march(q, qd, qdd, f_ext=wrenches)
    np.testing.assert_allclose(more, walk(q, qd, qdd, f_ext=wrenches[:, 0]), rtol=1e-14)
    np.testing.assert_allclose(robot.march(q, qd, qdd[0]), walk(q, qd, np.tile(qdd[:1], (4, 1, 1))), rtol=1e-14)
    np.testing.assert_allclose(robot.survey(q, qd, qdd[:, :1]).path, walk(q, qd, qdd[:, :1]), rtol=1e-14)
    many = np.tile(qdd[:1], (1, 3, 1))
    for given in (many, many[0]):
        path, outer = robot.survey(q[:1], qd[:1], given)
        np.testing.assert_allclose(outer, path[:, :-1, :, None] * np.arange(1.0, robot.nv + 1), rtol=1e-13)


def test_memory_of_the_caller(robot: Any, sample: Any) -> None:
    out = np.empty((4, 4, robot.nv))
    assert robot.march(*sample, out=out) is out
    np.testing.assert_array_equal(out, robot.march(*sample))
    both = robot.survey(*sample)
    path, outer = np.empty_like(both.path), np.empty((4, 3, robot.nv * robot.nv))
    found = robot.survey(*sample, out=(path, outer))
    assert np.shares_memory(found.path, path)
    np.testing.assert_array_equal(found.outer, both.outer)
    q, qd, qdd = sample
    buffer = np.empty((4, 4, robot.nv))
    buffer[:, 2] = qd
    np.testing.assert_array_equal(robot.march(q, buffer[:, 2], qdd, out=buffer), out)


def test_errors(robot: Any, sample: Any) -> None:
    q, qd, qdd = sample
    with pytest.raises(ArgumentError, match=r"'qdd' has shape \(8,\), expected \(..., n, 8\) for n steps, or n = 1"):
        robot.march(q, qd, qdd[0, 0])
    with pytest.raises(
        ArgumentError, match="'qdd' has 3 steps and 'f_ext' has 2; give as many of both, or one for all"
    ):
        robot.march(q, qd, qdd, f_ext=np.ones((4, 2, robot.nb * 6)))
    with pytest.raises(ArgumentError, match=r"march: argument 'qd' has batch shape \(3,\), expected \(4,\)"):
        robot.march(q, qd[:3], qdd)
    with pytest.raises(ArgumentError, match="out is no tuple of arrays for"):
        robot.survey(*sample, out=np.empty((4, 4, robot.nv)))
    with pytest.raises(ArgumentError, match="out for 'path' has shape"):
        robot.march(*sample, out=np.empty((4, 3, robot.nv)))
    with pytest.raises(ArgumentError, match=r"out for 'path' has strides .* pass a C-contiguous array"):
        robot.march(*sample, out=np.moveaxis(np.empty((robot.nv, 4, 4)), 0, -1))


@pytest.mark.parametrize(("batch", "steps"), [(10**13, 10), (4, 10**13)])
def test_paths_that_fit_into_no_memory(robot: Any, batch: int, steps: int) -> None:
    qd, qdd = (np.broadcast_to(np.zeros(robot.nv), (count, robot.nv)) for count in (batch, steps))
    with pytest.raises(OutOfMemoryError, match=f"march: .* take at least {batch * steps * robot.nv * 8} bytes"):
        robot.march(np.zeros(robot.nq), qd, qdd)


def test_steps_are_rows_in_every_layout(robot: Any, sample: Any) -> None:
    first = robot.march(*sample)
    robot.output_layout = "batch_last"
    last = robot.march(*sample)
    assert last.flags.c_contiguous
    np.testing.assert_array_equal(last, first)


def test_documentation_says_where_the_steps_are(robot: Any) -> None:
    text = robot.survey.__doc__
    assert "qdd : array_like, shape (..., n, nv) for n steps, optional" in text
    assert "path : ndarray, shape (..., n + 1, nv) for n steps" in text
    assert "outer : ndarray, shape (..., n, nv, nv) for n steps" in text
    assert "way : optional\n    How to get there: one of 'quick', 'slow'." in text
