"""Run-time parameter tables: with the model's own values they give what the baked constants give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from grid_core.kernel import evaluate, trace_algorithm
from grid_core.kernel.kernel import Kernel
from grid_core.kernel.settings import TraceSettings
from grid_core.kernel.tables import TABLES, described_values
from grid_core.model import Model, load_model
from grid_core.plugins.manager import load_catalogue
from grid_core.toolchains import CxxCompiler
from grid_core.trace.linalg import rotation_of_rpy
from tests.grid_core.units import GOLDEN, compile_algorithm

Array = NDArray[Any]
FRICTION: dict[str, Any] = {"joint_dynamics": True, "friction_model": "tanh", "friction_width": 0.05}
ROBOT = """<robot name="tables"><link name="base"/>
<link name="a"><inertial><origin xyz="0.1 0.2 -0.1" rpy="0.3 0.1 -0.4"/><mass value="1.2"/>
  <inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.0015" izz="0.025"/></inertial></link>
<link name="b"><inertial><origin xyz="0 0.1 0.3"/><mass value="0.7"/>
  <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.008"/></inertial></link>
<joint name="ja" type="revolute"><origin xyz="0.1 0 0.3" rpy="0.4 -0.3 0.2"/><parent link="base"/><child link="a"/>
  <axis xyz="0 0.6 0.8"/><limit lower="-2" upper="2" effort="1" velocity="1"/>
  <dynamics damping="0.3" friction="0.2"/></joint>
<joint name="jb" type="prismatic"><origin xyz="0 0.2 0" rpy="-0.5 0.7 1.2"/><parent link="a"/><child link="b"/>
  <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
  <dynamics damping="0.1" friction="0.4"/></joint>
</robot>"""


def tables_of(model: Model, settings: TraceSettings | None = None) -> dict[str, Array]:
    """Return the tables with the model's own values, flat."""
    described = described_values(TABLES.values(), model, settings or TraceSettings(**FRICTION))
    return {name: values.ravel() for name, values in described.items()}


def inputs_of(model: Model, kernel: Kernel, batch: int) -> dict[str, Array]:
    random = np.random.default_rng(3)
    made = {a.name: random.normal(size=(batch, a.size)) for a in kernel.inputs if not a.name.endswith("_params")}
    return made | {"q": model.random(5, batch)}


def traced(model: Model, name: str, runtime: tuple[str, ...]) -> Kernel:
    algorithms = load_catalogue().algorithms
    return trace_algorithm(algorithms[name], model, algorithms, TraceSettings(**FRICTION, runtime=frozenset(runtime)))


MODELS = {
    "joints": lambda: load_model(ROBOT),
    "panda": lambda: load_model(GOLDEN / "panda.urdf"),
    "pendulum": lambda: load_model(GOLDEN / "double_pendulum_continuous.urdf"),
}


@pytest.mark.filterwarnings("ignore::grid_core.model.URDFWarning")
@pytest.mark.parametrize("runtime", [*((t,) for t in TABLES), tuple(TABLES)])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "inverse_dynamics_gradient", "crba"])
@pytest.mark.parametrize("robot", sorted(MODELS))
def test_own_values_change_nothing(robot: str, name: str, runtime: tuple[str, ...]) -> None:
    model = MODELS[robot]()
    baked, open_ = traced(model, name, ()), traced(model, name, runtime)
    inputs = inputs_of(model, baked, 6)
    own = {n: np.broadcast_to(v, (6, v.size)) for n, v in tables_of(model).items()}
    used = {a.name: own[a.name] for a in open_.inputs if a.name in own}
    assert {f"{t}_params" for t in runtime if t != "joint_dynamics"} <= set(used)
    expected, found = evaluate(baked, inputs), evaluate(open_, inputs | used)
    for output, values in expected.items():
        np.testing.assert_allclose(found[output], values, rtol=1e-11, atol=1e-11 * np.abs(values).max())


def test_tables_are_the_declared_inputs() -> None:
    model = load_model(ROBOT)
    kernel = traced(model, "inverse_dynamics", tuple(TABLES))
    assert {a.name: a.shape for a in kernel.inputs if a.name.endswith("_params")} == {
        "inertia_params": (2, 10),
        "transform_params": (2, 6),
        "joint_dynamics_params": (4, 2),
    }
    assert not [a.name for a in traced(model, "inverse_dynamics", ()).inputs if a.name.endswith("_params")]


@pytest.mark.parametrize("friction_model", ["sign", "tanh"])
def test_compiled_shared_and_per_sample(friction_model: str, cxx: CxxCompiler, tmp_path: Path) -> None:
    model, algorithms = load_model(ROBOT), load_catalogue().algorithms
    settings = TraceSettings(True, friction_model, 0.05, frozenset(TABLES))
    baked = trace_algorithm(
        algorithms["inverse_dynamics"], model, algorithms, TraceSettings(True, friction_model, 0.05)
    )
    unit = compile_algorithm(
        cxx, algorithms["inverse_dynamics"], tmp_path, model=model, algorithms=algorithms, settings=settings
    )
    inputs, own = inputs_of(model, baked, 19), tables_of(model)
    expected = evaluate(baked, inputs)["tau"]
    shared = unit("inverse_dynamics", inputs | own, 19)["tau"]
    np.testing.assert_allclose(shared, expected, rtol=1e-12, atol=1e-12)
    repeated = {n: np.tile(v, (19, 1)) for n, v in own.items()}
    np.testing.assert_array_equal(unit("inverse_dynamics", inputs | repeated, 19)["tau"], shared)

    factors = np.linspace(0.5, 2.0, 19)[:, None]
    heavier = repeated | {"inertia_params": own["inertia_params"] * factors}
    at_rest = inputs | {"qd": np.zeros((19, model.nv))}
    frictionless = unit("inverse_dynamics", at_rest | repeated, 19)["tau"]
    found = unit("inverse_dynamics", at_rest | heavier, 19)["tau"]
    wrench = unit("inverse_dynamics", {"q": inputs["q"], "f_ext": inputs["f_ext"]} | heavier, 19)["tau"]
    np.testing.assert_allclose(found - wrench, (frictionless - wrench) * factors, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("rpy", [(0.3, -0.7, 2.9), (0.4, np.pi / 2, 0.0), (-0.4, -np.pi / 2, 0.0), (0.0, np.pi, 0.0)])
def test_described_angles_give_the_placement(rpy: tuple[float, ...]) -> None:
    """Also at pitch +-90 degrees, where roll and yaw turn about one axis."""
    origin = f'rpy="{" ".join(map(repr, rpy))}"'
    model = load_model(ROBOT.replace('rpy="0.4 -0.3 0.2"', origin))
    row = described_values([TABLES["transform"]], model, TraceSettings())["transform_params"][0]
    np.testing.assert_allclose(row[:3], model.joints[0].placement.translation)
    rebuilt = np.array(rotation_of_rpy(list(map(float, row[3:]))), float)
    np.testing.assert_allclose(rebuilt, model.joints[0].placement.rotation, atol=1e-14)
