"""The cost menu: the sum of its terms, derivatives by differences, golden cases, what is left out, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from grid_core.errors import ArgumentError, OptionError
from grid_core.kernel import trace_algorithm
from grid_core.kernel.kernel import Loop
from grid_core.kernel.settings import TraceSettings
from grid_core.plugins.algorithm import resolve
from grid_core.plugins.frames import frame_numbers
from grid_plugins.plant import congruence
from grid_plugins.plant.activations import KINDS, NONE
from grid_plugins.plant.menu import BOUNDED, TERMS
from tests.grid_plugins.plant.test_activated import rotations
from tests.oracle.evaluation import Array, Inputs, Reference, algorithms, relative_error
from tests.oracle.robots import GOLDEN, MIXED, Robot
from tests.oracle.steps import derivative_along_state, state

ROBOTS: dict[str, Robot] = {**MIXED, "iiwa14": GOLDEN["iiwa14"]}
PARAMETERS = tuple(i.name for i in algorithms()["tracking_cost_menu"].inputs if i.name not in ("x", "u"))
OUTPUTS = tuple(o.name for o in algorithms()["tracking_cost_menu"].outputs)
B = 4


def settings_of(label: str) -> TraceSettings:
    names = [frame.name for frame in ROBOTS[label].model().frames]
    return TraceSettings(cost_frames=(names[len(names) // 2],), cost_features=(3, 2))


@cache
def reference(label: str) -> Reference:
    return Reference(ROBOTS[label].model(), settings_of(label))


def menu_inputs(label: str, seed: int = 0) -> Inputs:
    """Return all parameters: every kind of activation in turn, and some infinite bounds."""
    robot = reference(label)
    model, generator = robot.model, np.random.default_rng(seed)
    n, nq = model.nv, model.nq
    inputs: Inputs = {}
    for declared in algorithms()["tracking_cost_menu"].inputs:
        inputs[declared.name] = generator.normal(size=(B, *resolve(declared.shape, robot.dims)))
    inputs["x"] = state(model.random(seed, B), inputs["x"][:, nq:])
    inputs["x_des"] = state(
        model.integrate(inputs["x"][:, :nq], generator.normal(size=(B, n))), inputs["x_des"][:, nq:]
    )
    inputs["R_des"] = rotations(generator.normal(size=(B, 3)))
    for weights in ("W", "Q", "R", "Wx", "Wu", "Wo", "Wv", "Wcf", "mu"):
        inputs[weights] = np.abs(inputs[weights])
    inputs["activation"] = (np.arange(B)[:, None] + np.arange(len(TERMS))) % len(KINDS) * 1.0
    inputs["eps"] = generator.uniform(0.1, 0.5, (B, len(TERMS)))
    inputs["bounds"] = np.sort(inputs["bounds"], axis=1)
    inputs["bounds"][:, 0, ::5], inputs["bounds"][:, 1, 1::5] = -np.inf, np.inf
    strict = sum(resolve(tuple(BOUNDED[name] for name in ("q", "qd", "u")), robot.dims))
    inside = np.concatenate([added(label, inputs["x"]), inputs["x"][:, nq:], inputs["u"]], axis=1)
    inputs["bounds"][:, :, -strict:] = np.stack([inside - 0.5, inside + 0.7], axis=1)
    return inputs


def added(label: str, x: Array) -> Array:
    blocks = reference(label).model.coordinate_blocks
    return x[:, [q0 for kind, q0, *_ in blocks if kind == "scalar"]]


def cut(label: str, bounds: Array) -> dict[str, tuple[Array, Array]]:
    """Return lower and upper bounds by name."""
    widths = resolve(tuple(BOUNDED.values()), reference(label).dims)
    pieces = np.split(bounds, np.cumsum(widths)[:-1], axis=2)
    return {name: (piece[:, 0], piece[:, 1]) for name, piece in zip(BOUNDED, pieces)}


COSTS: dict[str, tuple[str, dict[str, str]]] = {
    "frame_pos": ("frame_position_cost", {"q": "q", "p_des": "ee_des", "W": "W"}),
    "state": ("state_cost", {"x": "x", "x_des": "x_des", "Q": "Q"}),
    "input": ("input_cost", {"u": "u", "u_des": "u_des", "R": "R"}),
    "linear_x": ("linear_feature_cost_x", {"x": "x", "A": "Ax", "b": "bx", "target": "tx", "W": "Wx"}),
    "linear_u": ("linear_feature_cost_u", {"u": "u", "A": "Au", "b": "bu", "target": "tu", "W": "Wu"}),
    "orientation": ("frame_orientation_cost", {"q": "q", "R_des": "R_des", "W": "Wo"}),
    "velocity": ("frame_velocity_cost", {"q": "q", "qd": "qd", "v_des": "v_des", "W": "Wv"}),
    "frame_pos_2": ("frame_position_cost", {"q": "q", "p_des": "cf_des", "W": "Wcf", "frame": "frame"}),
}
"""Term -> the method for it alone, and the menu's names of its arguments."""
BARRIERS = {"q": "joint_position_barrier", "qd": "joint_velocity_barrier", "u": "joint_torque_barrier"}


def separate(robot: Reference, inputs: Inputs) -> dict[str, Array]:
    """Return what the menu is to return from the costs of single terms, where coordinates simply add."""
    n, sides = robot.model.nv, cut("iiwa14", inputs["bounds"])
    second = settings_of("iiwa14").cost_targets(robot.model)[1]
    more = {"q": inputs["x"][:, :n], "qd": inputs["x"][:, n:], "frame": np.tile(frame_numbers(second), (B, 1))}
    known = inputs | more
    value, grads, hesses = (
        np.zeros(B),
        [np.zeros((B, w)) for w in (2 * n, n)],
        [np.zeros((B, w, w)) for w in (2 * n, n)],
    )
    for place, (term, (name, names)) in enumerate(COSTS.items()):
        given = {key: known[source] for key, source in names.items()}
        given |= {key: inputs[key][:, place] for key in ("activation", "eps")}
        given |= dict(zip(("lower", "upper"), sides.get(term, ())))
        found = robot(name, **given)
        value = value + found["value"]
        grads["u" in names] += found["grad"]
        hesses["u" in names] += found["hess"]
    for number, (variable, name) in enumerate(BARRIERS.items()):
        lower, upper = sides[variable]
        found = robot(name, var=known[variable], lower=lower, upper=upper, mu=inputs["mu"][:, number])
        value = value + found["value"]
        columns = np.arange(n) + (n if variable == "qd" else 0)
        grads[variable == "u"][:, columns] += found["grad"]
        hesses[variable == "u"][:, columns, columns] += found["hess_diag"]
    return dict(zip(OUTPUTS, (value, *grads, *hesses)))


def test_it_is_the_sum_of_its_terms() -> None:
    robot, inputs = reference("iiwa14"), menu_inputs("iiwa14")
    found, expected = robot("tracking_cost_menu", **inputs), separate(robot, inputs)
    for key in OUTPUTS:
        assert relative_error(found[key].reshape(B, -1), expected[key].reshape(B, -1), 1.0) < 1e-12, key


@pytest.mark.parametrize("label", ROBOTS)
def test_hessians_are_exact_at_the_target(label: str) -> None:
    """With quadratic activations and no residual that of Gauss and Newton is the second derivative."""
    robot, inputs = reference(label), menu_inputs(label)
    model, x = robot.model, inputs["x"]
    q, qd = x[:, : model.nq], x[:, model.nq :]
    for number, frame in enumerate(settings_of(label).cost_targets(model)):
        motion = robot("frame_motion", q=q, qd=qd, target_jid=np.tile(frame_numbers(frame), (B, 1)))
        pose = motion["transform"]
        inputs["cf_des" if number else "ee_des"] = pose[:, :3, 3]
        if not number:
            inputs["R_des"], inputs["v_des"] = pose[:, :3, :3], motion["velocity"]
    plain_state = np.concatenate([added(label, x), qd], axis=1)
    inputs["x_des"], inputs["u_des"] = x, inputs["u"]
    inputs["tx"] = np.einsum("bij,bj->bi", inputs["Ax"], plain_state) + inputs["bx"]
    inputs["tu"] = np.einsum("bij,bj->bi", inputs["Au"], inputs["u"]) + inputs["bu"]
    given = {key: value for key, value in inputs.items() if key not in ("activation", "bounds")}
    found = robot("tracking_cost_menu", **given)
    assert np.abs(found["value"]).max() < 1e-20
    bend = derivative_along_state(robot, "tracking_cost_menu", "grad_x", given)
    assert relative_error(found["hess_xx"], bend, 1.0) < 1e-8
    assert np.abs(found["hess_xx"]).max() > 1.0


@pytest.mark.parametrize("label", ROBOTS)
def test_gradients_by_differences(label: str) -> None:
    robot, inputs = reference(label), menu_inputs(label, 1)
    found = robot("tracking_cost_menu", **inputs)
    slopes = derivative_along_state(robot, "tracking_cost_menu", "value", inputs, 1e-4)[:, 0]
    assert relative_error(found["grad_x"], slopes, 1.0) < 1e-6  # a bound may lie within a step
    for i in range(robot.dims["nu"]):
        step = 1e-5 * np.eye(robot.dims["nu"])[i]
        ahead, behind = (robot("tracking_cost_menu", **inputs | {"u": inputs["u"] + s * step}) for s in (1.0, -1.0))
        np.testing.assert_allclose(found["grad_u"][:, i], (ahead["value"] - behind["value"]) / 2e-5, atol=1e-5)


@pytest.mark.parametrize("label", ROBOTS)
def test_hessians_are_symmetric_and_semidefinite(label: str) -> None:
    for seed in range(5):
        found = reference(label)("tracking_cost_menu", **menu_inputs(label, seed))
        for key in ("hess_xx", "hess_uu"):
            np.testing.assert_array_equal(found[key], np.swapaxes(found[key], 1, 2))
            assert np.linalg.eigvalsh(found[key]).min() > -1e-11 * np.abs(found[key]).max()


def test_what_is_left_out_costs_nothing() -> None:
    """Quadratic activations without bounds are what the kernel without both computes, and terms can be off."""
    robot, inputs = reference("mixed floating"), menu_inputs("mixed floating")
    plain = {key: value for key, value in inputs.items() if key not in ("activation", "bounds")}
    quadratic = plain | {"activation": np.zeros((B, len(TERMS)))}
    unbounded = np.full(inputs["bounds"].shape, np.inf) * np.array([-1.0, 1.0])[None, :, None]
    expected = robot("tracking_cost_menu", **plain)
    for given in (quadratic, quadratic | {"bounds": unbounded}, plain | {"bounds": unbounded}):
        for key, found in robot("tracking_cost_menu", **given).items():
            np.testing.assert_allclose(found, expected[key], rtol=1e-13, atol=1e-13)

    off = plain | {"activation": np.full((B, len(TERMS)), float(NONE))}
    bare = {key: plain[key] for key in ("x", "u", "eps")}
    for given in (off, bare):
        for found in robot("tracking_cost_menu", **given).values():
            np.testing.assert_array_equal(found, 0.0)


def test_large_features_are_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, inputs = reference("iiwa14"), menu_inputs("iiwa14")
    expected = robot("tracking_cost_menu", **inputs)
    monkeypatch.setattr(congruence, "WRITTEN_OUT", 100)
    looped = Reference(robot.model, settings_of("iiwa14"))
    kernel = trace_algorithm(algorithms()["tracking_cost_menu"], robot.model, algorithms(), settings_of("iiwa14"))
    assert any(isinstance(action, Loop) for action in kernel.actions)
    for key, found in looped("tracking_cost_menu", **inputs).items():
        np.testing.assert_allclose(found, expected[key], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_compiled(dtype: str, compiled: Callable[..., Any]) -> None:
    label = "mixed floating"
    robot, chosen = ROBOTS[label], settings_of(label)
    options = {"floating_base": True, "cost_frames": chosen.cost_frames, "cost_features": chosen.cost_features}
    handle = compiled(robot.urdf, dtype=dtype, **options)
    assert [frame["name"] for frame in handle.cost_frames] == list(chosen.cost_frames)
    inputs = {key: value.astype(dtype) for key, value in menu_inputs(label).items()}
    exact = {key: value.astype(float) for key, value in inputs.items()}
    for left_out in ((), ("activation",), ("bounds",), ("activation", "bounds")):
        given = {key: value for key, value in inputs.items() if key not in left_out}
        found = handle.tracking_cost_menu(**given)
        expected = reference(label)(
            "tracking_cost_menu", **{key: value for key, value in exact.items() if key not in left_out}
        )
        alone = handle.tracking_cost_menu(**{key: value[2] for key, value in given.items()})
        for key in OUTPUTS:
            ours, theirs = getattr(found, key).reshape(B, -1), expected[key].reshape(B, -1)
            assert relative_error(ours, theirs, 1.0) < (1e-11 if dtype == "float64" else 2e-4), key
            np.testing.assert_array_equal(getattr(alone, key), getattr(found, key)[2])


def test_activations_by_name(compiled: Callable[..., Any]) -> None:
    handle = compiled(
        GOLDEN["iiwa14"].urdf, dtype="float64", device="reference", cost_frames=("iiwa_joint_4",), cost_features=(3, 2)
    )
    inputs = menu_inputs("iiwa14")
    given = {key: value for key, value in inputs.items() if key != "activation"}
    by_term = handle.tracking_cost_menu(**given, activation={"state": "smooth_hinge", "orientation": "none"})
    numbers = [0, 4, 0, 0, 0, -1, 0, 0]
    names = ["none" if n < 0 else KINDS[n] for n in numbers]
    for same in (numbers, names, np.tile(numbers, (B, 1))):
        for ours, theirs in zip(handle.tracking_cost_menu(**given, activation=same), by_term):
            np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(ArgumentError, match="activation names a term 'stat'; did you mean 'state'"):
        handle.tracking_cost_menu(**given, activation={"stat": "quadratic"})
    with pytest.raises(ArgumentError, match=r"activation has shape \(3,\), expected \(..., 8\)"):
        handle.tracking_cost_menu(**given, activation=["quadratic"] * 3)


def test_it_needs_a_cost_frame(compiled: Callable[..., Any]) -> None:
    with pytest.raises(OptionError, match="needs cost_frames"):
        compiled(GOLDEN["iiwa14"].urdf, algorithm_list="tracking_cost_menu", device="reference")
