"""Products with Jacobians of every declared algorithm, against differences and each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from grid_core.errors import NoDerivativeError, PluginError
from grid_core.kernel import evaluate, trace_algorithm
from grid_core.kernel.derivative import Product, rates_product, slopes_product
from grid_core.kernel.settings import TraceSettings, dimensions
from grid_core.kernel.tables import described_values, table_inputs, tables_of
from grid_core.model import Model, load_model
from grid_core.plugins import Absent, Algorithm, Input, Jacobian, Output, resolve
from grid_core.plugins.check import check_algorithm
from grid_core.plugins.manager import load_catalogue

Array = NDArray[np.float64]

LINK = """<link name="{0}"><inertial><mass value="1.3"/><origin xyz="0.1 0.02 0.2" rpy="0.1 0.2 0.3"/>
<inertia ixx="0.1" iyy="0.12" izz="0.15" ixy="0.01" ixz="0" iyz="0.02"/></inertial></link>"""

JOINT = """<joint name="to_{1}" type="{2}"><parent link="{0}"/><child link="{1}"/>
<origin xyz="0.1 0 0.3" rpy="0.3 0 0.1"/>{3}</joint>"""
LINE = """<axis xyz="0 0.6 0.8"/><limit lower="-1" upper="1" effort="9" velocity="9"/>
<dynamics damping="0.2" friction="0.1"/>"""

URDF = f"""<robot name="mixed">{"".join(map(LINK.format, "abc"))}{JOINT.format("a", "b", "revolute", LINE)}
{JOINT.format("b", "c", "spherical", "")}</robot>"""

SETTINGS = TraceSettings(
    joint_dynamics=True, friction_model="tanh", friction_width=0.5, contact_frames=("c",), cost_frames=("b",),
    runtime=frozenset({"inertia", "transform", "joint_dynamics"}),
)  # fmt: skip
CATALOGUE = load_catalogue()
SLOW = pytest.mark.slow
UNITS = [
    pytest.param(name, marks=SLOW if name.startswith(("integrator_gradient_", "integrator_hessian_")) else ())
    for name, algorithm in CATALOGUE.algorithms.items()
    if algorithm.emit is not None
]
LOOPED = {
    "fdsva_so",
    "inverse_dynamics_regressor_gradient",
    *(f"integrator_gradient_{scheme}" for scheme in ("midpoint", "rk4", "trapezoidal", "rk4_mk")),
    *(name for name in CATALOGUE.algorithms if name.startswith("integrator_hessian_")),
}
"""Their kernels have loops, some for large robots only, which the tracer cannot differentiate."""

STEP = 1e-6


@pytest.fixture(scope="module", params=["fixed", "floating"])
def robot(request: pytest.FixtureRequest) -> Model:
    return load_model(URDF, floating_base=request.param == "floating")


class Case:
    """An algorithm at random inputs, and everything that can be asked about its derivatives there."""

    def __init__(self, model: Model, algorithm: Algorithm, settings: TraceSettings = SETTINGS, seed: int = 0) -> None:
        self.model, self.settings = model, settings
        self.tables = table_inputs(settings)
        self.algorithms = dict(CATALOGUE.algorithms)
        self.random = np.random.default_rng(seed)
        self.inputs = {i.name: self.values(i) for i in (*algorithm.inputs, *self.tables)}
        self.moving = [i.name for i in (*algorithm.inputs, *self.tables) if i.read is None]

    def values(self, argument: Input) -> Array:
        if argument in self.tables:
            (table,) = (t for t in tables_of(self.settings) if t.input == argument)
            described = described_values([table], self.model, self.settings)[argument.name].ravel()
            return described[None] + 0.1
        if argument.tangent == "configuration":
            return self.model.random(3, 1)
        size = int(np.prod(resolve(argument.shape, dimensions(self.model, self.settings))))
        at = self.random.uniform(0.3, 1.0, (1, size)) * argument.typical
        if argument.name in ("x", "x_des"):
            at[:, : self.model.nq] = self.model.random(4, 1)
        if argument.name in ("lower", "upper"):
            return np.full((1, size), -3.0 if argument.name == "lower" else 3.0)
        if argument.name == "ee_offsets":
            return np.array([[0.1, 0.0, 0.0, -0.2, 0.0, 1.0, 0.0, 0.3, 0.0, 0.0, 1.0, 0.1]])
        return np.zeros((1, size)) if argument.read is not None else at

    def run(self, algorithm: Algorithm, inputs: Mapping[str, Array]) -> dict[str, Array]:
        known = {**self.algorithms, algorithm.name: algorithm}
        return evaluate(trace_algorithm(algorithm, self.model, known, self.settings), inputs)

    def rates(self, base: Algorithm) -> Product:
        return rates_product(base, self.moving, self.inputs, self.tables)

    def slopes(self, base: Algorithm) -> Product:
        return slopes_product(base, self.moving, self.inputs, self.tables)

    def directions(self) -> dict[str, Array]:
        return {name: self.random.uniform(-1.0, 1.0, self.inputs[name].shape) for name in self.moving}


@pytest.mark.parametrize("name", UNITS)
def test_every_algorithm_has_rates_and_slopes(robot: Model, name: str) -> None:
    base = CATALOGUE.algorithms[name]
    case = Case(robot, base)
    directions = case.directions()

    def at(step: float) -> dict[str, Array]:
        return case.run(base, {n: a + step * directions.get(n, 0.0) for n, a in case.inputs.items()})

    ahead, behind = at(STEP), at(-STEP)
    product = case.rates(base)
    try:
        rates = case.run(product.algorithm, case.inputs | {product.factors[n]: d for n, d in directions.items()})
    except NoDerivativeError:
        assert name in LOOPED, f"{name} has no derivative"
        return
    for output in base.outputs:
        expected = (ahead[output.name] - behind[output.name]) / (2.0 * STEP)
        found = rates[product.results[output.name]]
        scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
        np.testing.assert_allclose(found / scale, expected / scale, atol=2e-7, err_msg=output.name)

    transposed = case.slopes(base)
    weights = {o.name: case.random.uniform(-1.0, 1.0, ahead[o.name].shape) for o in base.outputs}
    slopes = case.run(transposed.algorithm, case.inputs | {transposed.factors[n]: w for n, w in weights.items()})
    left = sum(float((weights[o.name] * rates[product.results[o.name]]).sum()) for o in base.outputs)
    right = [float((slopes[transposed.results[n]] * d).sum()) for n, d in directions.items()]
    size = float(np.abs(right).sum())
    assert abs(left - sum(right)) <= 1e-11 * max(size, 1.0)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "configuration_difference", "integrator_rk4"])
def test_products_have_products(robot: Model, name: str) -> None:
    base = CATALOGUE.algorithms[name]
    case = Case(robot, base, TraceSettings())
    first = case.slopes(base)
    case.algorithms[first.algorithm.name] = first.algorithm
    weights = {f: case.random.uniform(-1.0, 1.0, (1, _size(case, first.algorithm, f))) for f in first.factors.values()}
    case.inputs |= weights
    case.moving = [*case.moving, *weights]
    directions = case.directions()
    second = case.rates(first.algorithm)

    def at(step: float) -> dict[str, Array]:
        return case.run(first.algorithm, {n: a + step * directions[n] for n, a in case.inputs.items()})

    ahead, behind = at(STEP), at(-STEP)
    rates = case.run(second.algorithm, case.inputs | {second.factors[n]: d for n, d in directions.items()})
    for output in first.algorithm.outputs:
        expected = (ahead[output.name] - behind[output.name]) / (2.0 * STEP)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(rates[second.results[output.name]] / scale, expected / scale, atol=1e-6)


def _size(case: Case, algorithm: Algorithm, name: str) -> int:
    (shape,) = (i.shape for i in algorithm.inputs if i.name == name)
    return int(np.prod(resolve(shape, dimensions(case.model, case.settings))))


Q = Input("q", ("nq",), "configuration", tangent="configuration")
QD = Input("qd", ("nv",), "velocity")


def test_a_declared_jacobian_gives_what_the_tracer_gives(robot: Model) -> None:
    """Its columns are those of the tangent, and begin where it says."""
    traced = CATALOGUE.algorithms["inverse_dynamics"]
    columns = Jacobian("inverse_dynamics_gradient"), Jacobian("inverse_dynamics_gradient", ("nv",))
    declared = replace(traced, jacobian={"q": columns[0], "qd": columns[1], "qdd": Jacobian("mass_of")})
    mass = replace(CATALOGUE.algorithms["crba"], name="mass_of", inputs=traced.inputs)
    check_algorithm(declared)
    case = Case(robot, traced, TraceSettings())
    case.algorithms["mass_of"] = mass
    directions, weights = case.directions(), case.random.uniform(-1.0, 1.0, (1, robot.nv))
    found: list[dict[str, Any]] = []
    for base in (traced, declared):
        case.algorithms["inverse_dynamics"] = base
        rates, slopes = case.rates(base), case.slopes(base)
        moved = {rates.factors[n]: d for n, d in directions.items()}
        found.append(case.run(rates.algorithm, case.inputs | moved))
        found.append(case.run(slopes.algorithm, case.inputs | {slopes.factors["tau"]: weights}))
    for expected, got in zip(found[:2], found[2:]):
        for name, values in expected.items():
            np.testing.assert_allclose(got[name], values, atol=1e-11, err_msg=name)


def test_quaternions_of_any_length_and_slopes_across_them() -> None:
    robot = load_model(URDF, floating_base=True)
    base = CATALOGUE.algorithms["crba"]
    case = Case(robot, base, TraceSettings())
    case.inputs["q"][:, 3:7] *= 1.7
    product = case.slopes(base)
    weights = case.random.uniform(-1.0, 1.0, (1, robot.nv**2))
    slopes = case.run(product.algorithm, case.inputs | {product.factors["m"]: weights})[product.results["q"]][0]
    for first in (3, 8):
        assert abs(slopes[first : first + 4] @ case.inputs["q"][0, first : first + 4]) < 1e-12
    assert np.abs(slopes).max() > 0.1


def test_what_has_no_derivative_says_so() -> None:
    robot = load_model(URDF)
    frame = CATALOGUE.algorithms["frame_jacobian"]
    with pytest.raises(
        NoDerivativeError, match=r"'frame_jacobian' has no derivative along 'reference_frame'.*names or"
    ):
        rates_product(frame, ["reference_frame"], ["q", "reference_frame"])

    def looping(k: Any) -> None:
        place = k.array("w", k.input("qd"))
        k.loop([[0]], lambda row: row.store(place, 0, row.load(place, 0) * 2.0))
        k.output("y", place.values()[0])

    base = Algorithm("looping", "test", "Doubles.", (QD,), (Output("y", (), "twice"),), looping)
    product = slopes_product(base, ["qd"], ["qd"])
    known = {"looping": base, product.algorithm.name: product.algorithm}
    with pytest.raises(NoDerivativeError, match=r"'looping' has no derivative along qd.*name it in Algorithm.jacobian"):
        trace_algorithm(product.algorithm, robot, known)


def test_inputs_of_products() -> None:
    """Variants that calls leave out are not traced, others read as zeros, what moves is required."""
    base = CATALOGUE.algorithms["inverse_dynamics"]
    without = slopes_product(base, ["qdd"], ["q", "qd", "qdd"]).algorithm
    assert [i.name for i in without.inputs] == ["q", "qd", "qdd", "gravity", "tau_slope"]
    assert [i.optional for i in without.inputs] == [False, False, False, True, True]
    still = slopes_product(base, ["q"], ["q", "qd", "f_ext"]).algorithm
    assert [i.absent for i in still.inputs if i.name == "f_ext"] == [Absent.ZERO]
    assert without.name == "inverse_dynamics_slopes_along_qdd_without_f_ext"
    twice = slopes_product(without, ["q", "tau_slope"], ["q", "qd", "qdd", "tau_slope"]).algorithm
    assert [o.name for o in twice.outputs] == ["q_slope", "tau_slope_slope"]
    assert len({i.name for i in twice.inputs} | {o.name for o in twice.outputs}) == len(twice.inputs) + 2


@pytest.mark.parametrize(
    ("jacobian", "outputs", "match"),
    [
        ({"p": Jacobian("g")}, 1, "jacobian has 'p'"),
        ({"q": ("g", 0)}, 1, "jacobian has 'q'.*grid_core.plugins.Jacobian"),
        ({"q": Jacobian("g")}, 2, "several outputs"),
    ],
)
def test_declarations_that_are_refused(jacobian: Any, outputs: int, match: str) -> None:
    results = tuple(Output(f"y{i}", (), "y") for i in range(outputs))
    with pytest.raises(PluginError, match=match):
        check_algorithm(Algorithm("f", "test", "f.", (Q,), results, lambda k: None, jacobian=jacobian))
