"""Neutral and random configurations, retraction and difference on a robot with every kind of coordinate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from grid_core.errors import ArgumentError
from grid_core.model import Model

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def joint(name: str, kind: str, parent: str, inner: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{name}"/>{inner}</joint>'
        f'<link name="{name}">{BODY}</link>'
    )


MIXED = f"""<robot name="mixed"><link name="root">{BODY}</link>
{joint("a", "revolute", "root", '<limit lower="0.5" upper="0.75" velocity="1" effort="1"/>')}
{joint("b", "spherical", "a")}
{joint("c", "continuous", "b")}
{joint("d", "prismatic", "c")}
{joint("e", "revolute", "d", '<mimic joint="a" multiplier="2"/>')}
{joint("f", "prismatic", "e", '<limit upper="inf" lower="3" velocity="1" effort="1"/>')}
{joint("g", "revolute", "f", '<limit upper="-3" lower="-inf" velocity="1" effort="1"/>')}
</robot>"""


@pytest.fixture(scope="module")
def model(quiet_load: Callable[..., Model]) -> Model:
    return quiet_load(MIXED, floating_base=True)


def test_layout(model: Model) -> None:
    assert model.dims == {"nq": 16, "nv": 14, "nb": 8}
    assert model.configuration_layout == (
        ("floating", 0, 0, 7, 6),
        ("euclidean", 7, 6, 1, 1),
        ("spherical", 8, 7, 4, 3),
        ("euclidean", 12, 10, 4, 4),
    )


def test_neutral_has_unit_quaternions(model: Model) -> None:
    assert model.neutral().tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0]


def test_random_is_reproducible_and_inside_the_limits(model: Model) -> None:
    q = model.random(5, 500)
    np.testing.assert_array_equal(q, model.random(5, 500))
    assert not np.array_equal(q, model.random(6, 500))
    assert np.all((q >= model.lower) & (q <= model.upper))
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(q[:, 8:12], axis=1), 1, atol=1e-15)
    ranges = {0: (-1, 1), 12: (-np.pi, np.pi), 13: (-1, 1), 14: (3, 5), 15: (-3 - 2 * np.pi, -3)}
    for slot, (low, high) in ranges.items():
        assert low <= q[:, slot].min() < low + 0.1 * (high - low)
        assert high >= q[:, slot].max() > high - 0.1 * (high - low)
    assert q[:, 6].min() < -0.5 < 0.5 < q[:, 6].max()


def test_difference_undoes_integrate(model: Model) -> None:
    q = model.random(1, 100)
    step = np.random.default_rng(2).uniform(-1.7, 1.7, (100, model.nv))
    end = model.integrate(q, step)
    np.testing.assert_allclose(model.difference(q, end), step, atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(end[:, 3:7], axis=1), 1, atol=1e-15)


def test_integrate_undoes_difference(model: Model) -> None:
    start, end = model.random(1, 100), model.random(2, 100)
    reached = model.integrate(start, model.difference(start, end))
    np.testing.assert_allclose(model.difference(reached, end), 0, atol=1e-12)


def test_difference_ignores_signs_of_quaternions(model: Model) -> None:
    start, end = model.random(1, 50), model.random(2, 50)
    flipped = end.copy()
    flipped[:, 3:7] *= -1
    flipped[:, 8:12] *= -1
    np.testing.assert_allclose(model.difference(start, flipped), model.difference(start, end), atol=1e-14)


def test_no_step_is_exact(model: Model) -> None:
    q = model.random(1, 10)
    np.testing.assert_allclose(model.integrate(q, np.zeros(model.nv)), q, rtol=0, atol=4e-16)
    assert np.abs(model.difference(q, q)).max() < 1e-15


def test_non_unit_quaternions_are_normalised(model: Model) -> None:
    q, step = model.random(1, 10), np.random.default_rng(3).standard_normal((10, model.nv))
    scaled = q.copy()
    scaled[:, 3:7] *= 3.0
    scaled[:, 8:12] *= 0.1
    np.testing.assert_allclose(model.integrate(scaled, step), model.integrate(q, step), rtol=0, atol=1e-14)


def test_any_leading_batch_axes(model: Model) -> None:
    q, step = model.random(1, 6), np.random.default_rng(3).standard_normal((6, model.nv))
    expected = model.integrate(q, step)
    np.testing.assert_array_equal(
        model.integrate(q.reshape(2, 3, -1), step.reshape(2, 3, -1)), expected.reshape(2, 3, -1)
    )
    np.testing.assert_array_equal(model.integrate(q[0], step[0]), expected[0])
    assert model.integrate(q[:, None], step[None]).shape == (6, 6, model.nq)
    assert model.difference(q[:, None], q[None]).shape == (6, 6, model.nv)


def test_wrong_width_names_both_shapes(model: Model) -> None:
    with pytest.raises(ArgumentError, match=r"v must have shape \(\.\.\., 14\), got \(16,\)"):
        model.integrate(model.neutral(), model.neutral())
    with pytest.raises(ArgumentError, match=r"q0 must have shape"):
        model.difference(0.0, model.neutral())


def test_batch_axes_must_broadcast(model: Model) -> None:
    with pytest.raises(ArgumentError, match=r"\(3,\) and \(2,\) do not broadcast"):
        model.integrate(model.random(1, 3), np.zeros((2, model.nv)))


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_quaternions_without_direction_are_refused(model: Model, value: float) -> None:
    q = model.neutral()
    q[3:7] = value
    with pytest.raises(ArgumentError, match="q holds a quaternion of zero or undefined norm"):
        model.integrate(q, np.zeros(model.nv))
