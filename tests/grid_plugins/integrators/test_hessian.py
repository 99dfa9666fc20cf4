"""Moving-gradient sensitivities of steps: automatic derivatives, differences on the manifold, golden, compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

from grid_core.errors import OptionError
from grid_core.kernel import evaluate
from grid_core.plugins.manager import load_catalogue
from grid_plugins.integrators.hessian import COVERED
from tests.oracle.derivatives import along_tangent
from tests.oracle.evaluation import Array, Inputs, Reference, algorithms, random_inputs, relative_error
from tests.oracle.robots import GOLDEN, TESTS, Robot
from tests.oracle.steps import differentiate, moved_inputs
from tests.oracle.trees import chain, describe

ROBOTS = {
    "fixed": Robot(describe(chain("revolute", "prismatic", "helical"), 1)),
    "spherical": Robot(describe(chain("revolute", "spherical", "revolute"), 2)),
    "free": Robot(describe(chain("revolute"), 3), floating_base=True),
    "free and spherical": Robot(describe(chain("spherical", "revolute"), 4), floating_base=True),
}
COMPILED = "free and spherical"
"""A robot for which the interpreter takes too long."""
NAMED = ("integrator_gradient", "plant_step_hessian")
SCHEMES = [scheme.name for scheme in COVERED]


@cache
def reference(label: str) -> Reference:
    return Reference(ROBOTS[label].model())


def inputs_of(label: str, n: int = 2) -> Inputs:
    found = random_inputs(reference(label).model, 3, n)
    inputs = {key: found[key] for key in ("q", "qd", "u", "f_ext", "gravity")}
    return inputs | {"dt": np.geomspace(0.02, 0.1, n)[:, None]}


def by_differences(label: str, gradient: Callable[..., Array], inputs: Inputs) -> Array:
    """Return the gradients' changes, each gradient taken in the tangents at its own states."""
    model, batch = reference(label).model, len(inputs["q"])
    changes = differentiate(gradient(**moved_inputs(model, inputs, 1e-3)), 3 * model.nv, 1e-3)
    return np.swapaxes(changes.reshape(batch, -1, 3 * model.nv, 3 * model.nv), 2, 3)


def check(label: str, scheme: str, found: Array, expected: Array, tolerance: float) -> None:
    """Compare the rows of configuration and velocity each by their own size."""
    n = reference(label).model.nv
    for rows in (slice(0, n), slice(n, 2 * n)):
        assert relative_error(found[:, rows], expected[:, rows], 1e-6) < tolerance, (label, scheme, rows)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("label", [label for label in ROBOTS if label != COMPILED])
def test_by_differences(label: str, scheme: str) -> None:
    robot, inputs = reference(label), inputs_of(label)
    found = robot(f"integrator_hessian_{scheme}", **inputs)
    expected = by_differences(label, partial(robot, f"integrator_gradient_{scheme}"), inputs)
    check(label, scheme, found, expected, 1e-7)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_by_automatic_derivatives(scheme: str) -> None:
    model, inputs = reference("spherical").model, inputs_of("spherical")
    m = 3 * model.nv
    kernel = along_tangent(f"integrator_gradient_{scheme}", model, plain=("qd", "u"))
    expected = evaluate(kernel, {k: v.reshape(len(v), -1) for k, v in inputs.items()})["gradient"].reshape(2, -1, m, m)
    found = reference("spherical")(f"integrator_hessian_{scheme}", **inputs)
    check("spherical", scheme, found, np.swapaxes(expected, 2, 3), 1e-11)


def test_it_is_symmetric_where_coordinates_add() -> None:
    found = reference("fixed")("integrator_hessian_midpoint", **inputs_of("fixed"))
    np.testing.assert_allclose(found, np.swapaxes(found, 2, 3), rtol=1e-10, atol=1e-12)
    found = reference("free")("integrator_hessian_midpoint", **inputs_of("free"))
    assert np.abs(found - np.swapaxes(found, 2, 3)).max() > 1e-3


@pytest.mark.parametrize("scheme", ["euler", "semi_implicit_euler"])
@pytest.mark.parametrize("robot", GOLDEN)
def test_golden(robot: str, scheme: str) -> None:
    data = np.load(TESTS / "golden" / f"{robot}_second.npz")
    number = data["plant_step_hessian__sample_index"]
    given = {key: data[key][number] for key in ("q", "qd", "u")} | {"dt": data["dt"][number][:, None]}
    found = Reference(GOLDEN[robot].model())(f"integrator_hessian_{scheme}", **given)
    assert relative_error(found, data[f"plant_step_hessian__{scheme}"], 1.0) < 1e-9


def test_compiled(compiled: Callable[..., Any]) -> None:
    """The plant's method in both precisions, for a batch that is no multiple of a pack, and rows alone."""
    options: dict[str, Any] = {"urdf": ROBOTS[COMPILED].urdf, "floating_base": True, "algorithm_list": NAMED}
    robot, single = (compiled(**options, dtype=dtype) for dtype in ("float64", "float32"))
    inputs = {key: value.astype("float32").astype(float) for key, value in inputs_of(COMPILED, 5).items()}
    given = {"x": np.concatenate([inputs["q"], inputs["qd"]], axis=1), "dt": inputs["dt"][:, 0]}
    given |= {key: inputs[key] for key in ("u", "gravity", "f_ext")}

    def gradient(dt: Array, **rest: Array) -> Array:
        found: Array = robot.integrator_gradient(dt=dt[:, 0], integrator_type="midpoint", **rest)
        return found

    found = robot.plant_step_hessian(**given, integrator_type="midpoint")
    check(COMPILED, "midpoint", found, by_differences(COMPILED, gradient, inputs), 1e-7)
    rough = single.plant_step_hessian(**{k: x.astype("float32") for k, x in given.items()}, integrator_type="midpoint")
    check(COMPILED, "midpoint", rough, found, 1e-3)
    alone = robot.plant_step_hessian(**{key: x[3] for key, x in given.items()}, integrator_type="midpoint")
    np.testing.assert_array_equal(alone, found[3])


def test_schemes_without_it_are_refused(compiled: Callable[..., Any]) -> None:
    assert algorithms()["plant_step_hessian"].choice.algorithms.keys() == set(SCHEMES)  # type: ignore[union-attr]
    robot = compiled(ROBOTS["fixed"].urdf, dtype="float64", device="reference", algorithm_list=NAMED)
    with pytest.raises(OptionError, match="integrator_type is 'rk4_mk', expected one of euler"):
        robot.plant_step_hessian(np.zeros(2 * robot.nv), np.zeros(robot.nv), 0.01, integrator_type="rk4_mk")


def test_only_those_who_name_it_build_it() -> None:
    catalogue = load_catalogue()
    named = {"integrator_hessian", "plant_step_hessian", *(f"integrator_hessian_{scheme}" for scheme in SCHEMES)}
    assert {name for name, algorithm in catalogue.algorithms.items() if algorithm.opt_in} == named
    assert not named & set(catalogue.closure(catalogue.select(None)))
    assert named == set(catalogue.select("step-hessians"))
