"""Activations: golden values, slopes and curvatures by differences, what happens at bounds and at the edges of eps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from grid_core.errors import ArgumentError
from grid_core.kernel import Kernel, evaluate, trace_algorithm
from grid_core.kernel.builder import KernelBuilder
from grid_core.plugins.algorithm import Algorithm, Input, Output
from grid_plugins.plant.activations import KINDS, NONE, Activation, Bounded, numbers_of
from tests.oracle.derivatives import slope
from tests.oracle.evaluation import Array
from tests.oracle.robots import GOLDEN, TESTS

NAMES = ("kind", "eps", "r", "w", "v", "lo", "hi")
BARRIERS = KINDS[2:]


@cache
def kernel(bounds: bool) -> Kernel:
    """Return a kernel of value, slope and curvature of one entry, with or without bounds."""

    def emit(k: KernelBuilder) -> None:
        kind, eps, r, w, v, lo, hi = (k.input(name) for name in NAMES)
        term = Activation(kind, eps).of([r], [w], [Bounded(v, lo, hi)] if bounds else ())
        k.output("activated", [term.value, *term.slopes, *term.curvatures])

    inputs = tuple(Input(name, (), "") for name in NAMES)
    algorithm = Algorithm("activation", "plant", "One entry.", inputs, (Output("activated", ("3",), ""),), emit)
    return trace_algorithm(algorithm, GOLDEN["iiwa14"].model(), {})


def activated(name: str, *, bounds: bool = True, **given: Any) -> Array:
    """Return value, slope and curvature, (B, 3)."""
    number = NONE if name == "none" else KINDS.index(name)
    values = {"kind": number, "eps": 0.3, "r": 0.0, "w": 1.0, "v": 0.0, "lo": -np.inf, "hi": np.inf, **given}
    arrays = np.broadcast_arrays(*(np.atleast_1d(np.asarray(value, float)) for value in values.values()))
    return evaluate(kernel(bounds), {key: a[:, None] for key, a in zip(values, arrays)})["activated"]


def golden() -> Mapping[str, Array]:
    return np.load(TESTS / "golden" / "primitives.npz")


@pytest.mark.parametrize("name", KINDS)
def test_agrees_with_an_independent_implementation(name: str) -> None:
    cases = golden()
    found = activated(name, **{key: cases[f"activation__{key}"] for key in NAMES[1:]})
    for column, quantity in enumerate(("value", "slope", "curvature")):
        expected = cases[f"activation__{name}__{quantity}"]
        np.testing.assert_allclose(found[:, column], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("where", [-1.7, -1.05, -0.95, -0.6, 0.0, 0.4, 1.2, 2.5])
def test_slopes_and_curvatures_by_differences(name: str, where: float) -> None:
    """On both sides of the bounds -1 and 0.5 and of the relaxation at -0.7 and 0.2."""

    def at(t: float) -> Array:
        return activated(name, r=where + t, v=where + t, lo=-1.0, hi=0.5, w=0.7)[0]

    rates = slope(at, 1e-4)
    np.testing.assert_allclose(at(0.0)[1:], rates[:2], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", BARRIERS)
def test_at_a_bound(name: str) -> None:
    """Finite there and continuous in value and slope; curvatures are those of the inside for one-sided parabolas."""
    for bound, side in ((-1.0, -1.0), (0.5, 1.0)):
        near = np.array([bound - 1e-9 * side, bound, bound + 1e-9 * side])
        found = activated(name, v=near, lo=-1.0, hi=0.5)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found[:, :2], np.tile(found[1, :2], (3, 1)), atol=1e-7)
        curvature = found[1, 2]
        assert curvature > 0.0 if name == "relaxed_log_barrier" else curvature == 0.0


@pytest.mark.parametrize("name", BARRIERS)
def test_infinite_bounds_are_none(name: str) -> None:
    v = np.array([-1e6, -1.0, 0.0, 1.0, 1e6])
    np.testing.assert_array_equal(activated(name, v=v), 0.0)
    np.testing.assert_array_equal(activated(name, v=v, r=2.0, bounds=False), 0.0)
    lower, upper = activated(name, v=v, lo=0.0), activated(name, v=-v, hi=0.0)
    np.testing.assert_allclose(lower, upper * [1.0, -1.0, 1.0], rtol=1e-14)


@pytest.mark.parametrize("eps", [1e-6, 1e-12, 1e-30, 0.0])
@pytest.mark.parametrize("name", KINDS)
def test_small_scales_stay_finite(name: str, eps: float) -> None:
    """The weighted absolute value is the limit of the smooth ones."""
    r = np.array([-2.0, -1e-3, 0.0, 1e-3, 2.0])
    found = activated(name, r=r, v=r, lo=-1.0, hi=1.0, eps=eps, w=3.0)
    assert np.isfinite(found).all()
    if name == "pseudo_huber":
        np.testing.assert_allclose(found[:, 0], 3.0 * np.abs(r), atol=3.1 * eps)
        np.testing.assert_allclose(found[:, 1], 3.0 * np.sign(r), atol=1e-5)
    if name == "smooth_hinge":
        np.testing.assert_allclose(found[:, 0], [3.0, 0.0, 0.0, 0.0, 3.0], atol=3.1 * eps)


def test_none_costs_nothing_whatever_the_residual_is() -> None:
    for bounds in (True, False):
        found = activated("none", r=[np.nan, np.inf, 1.0], lo=0.5, bounds=bounds)
        np.testing.assert_array_equal(found, 0.0)


def test_without_bounds_both_kernels_agree() -> None:
    r = np.linspace(-2.0, 2.0, 9)
    for name in KINDS:
        np.testing.assert_array_equal(activated(name, r=r, v=r), activated(name, r=r, bounds=False))


def test_names() -> None:
    assert numbers_of(None) == 0.0
    assert numbers_of("none") == -1.0
    np.testing.assert_array_equal(numbers_of([*KINDS, 2, "none"]), [0, 1, 2, 3, 4, 2, -1])
    with pytest.raises(ArgumentError, match="activation is 'pseudo_hubert'; did you mean 'pseudo_huber'"):
        numbers_of("pseudo_hubert")
    for wrong in (5, 0.5, True, ["quadratic", None]):
        with pytest.raises(ArgumentError, match=r"activation is .*expected 'none'"):
            numbers_of(wrong)
