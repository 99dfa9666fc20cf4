"""Bundled algorithms pass the suite for plugin authors, and what breaks a rule does not."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grid_core.errors import PluginError
from grid_core.plugins.manager import load_catalogue
from grid_core.testing import ROBOTS, Case, ConformanceError, SampleRobot, conformance
from grid_core.testing.bench import Bench
from grid_core.testing.conformance import CHECKS

BUNDLED = load_catalogue().algorithms
SOME = {
    "crba": tuple(CHECKS),
    "frame_jacobian": ("documentation", "values", "batches"),  # read from the name of a frame
    "integrator": ("documentation", "values", "batches"),  # a choice
    "rollout": ("documentation", "values", "batches"),  # a scan
    "frame_position_cost": ("documentation", "values", "batches"),  # needs frames
}


@pytest.mark.parametrize(
    "case", [case for name, checks in SOME.items() for case in conformance(BUNDLED[name], checks=checks)], ids=str
)
def test_bundled_algorithms_conform(case: Case) -> None:
    case.run()


OTHER_ROBOTS = {"osc_inertia": ROBOTS[1:]}
"""The inertia of an end effector that cannot move freely is infinite."""

SWEPT = ("values", "float32", "batches", "derivatives", "header")


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        case
        for name, algorithm in BUNDLED.items()
        for case in conformance(algorithm, checks=SWEPT, robots=OTHER_ROBOTS.get(name, ROBOTS))
    ],
    ids=str,
)
def test_every_bundled_algorithm_conforms(case: Case) -> None:
    case.run()


@pytest.mark.parametrize("algorithm", BUNDLED.values(), ids=lambda a: a.name)
def test_every_bundled_algorithm_is_documented(algorithm: Any) -> None:
    for case in conformance(algorithm, checks=["documentation"], robots=ROBOTS[:1]):
        case.run()


PLUGIN = """
from grid_core.plugins import Algorithm, Input, Jacobian, Output, hookimpl
from grid_core.trace import sqrt

QD = Input("qd", ("nv",), "velocity")
Y = Output("y", (), "a number")


def declare(name, emit, **more):
    return Algorithm(name, "toys", **{"summary": "A toy.", "inputs": (QD,), "outputs": (Y,), "emit": emit, **more})


def square(k):
    k.output("y", sum(v * v for v in k.input("qd")))


def cancelling(k):
    root = sqrt(sum(v * v for v in k.input("qd")) + 1e7)
    k.output("y", root * root - 1e7)


def infinite(k):
    k.output("y", sqrt(-1.0 - sum(v * v for v in k.input("qd"))))


def slopes(k):
    k.output("slopes", [3.0 * v for v in k.input("qd")])


def rooted(k):
    k.output("y", sqrt(sum(v * v for v in k.input("qd"))))


@hookimpl
def grid_algorithms():
    return [
        declare("fine_toy", rooted),
        declare("cancelling_toy", cancelling),
        declare("infinite_toy", infinite),
        declare("silent_toy", square, summary=""),
        declare("mute_toy", square, inputs=(Input("qd", ("nv",), " "),)),
        declare("wrong_toy", square, jacobian={"qd": Jacobian("toy_slopes")}, requires=()),
        declare("toy_slopes", slopes, outputs=(Output("slopes", ("nv",), "slopes"),)),
        declare("raising_toy", lambda k: 1 / 0),
    ]
"""


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("toys") / "conformance_toys.py"
    file.write_text(PLUGIN)
    return file


def case_of(plugin: Path, algorithm: str, check: str, robot: SampleRobot = ROBOTS[0]) -> Case:
    (case,) = (c for c in conformance(plugin, checks=[check], robots=[robot]) if c.algorithm.name == algorithm)
    return case


@pytest.mark.parametrize("check", CHECKS)
def test_a_third_party_algorithm_conforms(check: str, toys: Path) -> None:
    case_of(toys, "fine_toy", check).run()


@pytest.mark.parametrize(
    ("algorithm", "check", "message"),
    [
        ("cancelling_toy", "float32", r"output 'y' of compiled float32 differs .* more than 1e-03; avoid differences"),
        ("infinite_toy", "values", "output 'y' has values that are not finite .*; guard divisions and roots"),
        ("silent_toy", "documentation", "its summary is ''; write one line"),
        ("mute_toy", "documentation", "'qd' has no doc; write one line: meaning, unit, frame"),
        ("wrong_toy", "derivatives", "the derivative of 'y' along 'qd' differs .*; correct 'toy_slopes', or "),
    ],
)  # fmt: skip
def test_broken_rules(algorithm: str, check: str, message: str, toys: Path) -> None:
    case = case_of(toys, algorithm, check)
    with pytest.raises(ConformanceError, match=f"'{algorithm}' on the fixed robot: {message}"):
        case.run()
    finding = case.finding()
    assert (finding.status, finding.item) == ("fail", f"{algorithm}, fixed robot")
    assert finding.advice


def test_a_plugin_that_raises_is_a_finding(toys: Path) -> None:
    finding = case_of(toys, "raising_toy", "values").finding()
    assert finding.status == "fail"
    assert finding.found.startswith(
        "TraceError: raising_toy: emit() failed: ZeroDivisionError: division by zero (conformance_toys.py, line "
    )


def test_rows_that_depend_on_the_batch_are_found(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = Bench.outputs

    def drifting(bench: Bench, *arguments: Any) -> Any:
        found = outputs(bench, *arguments)
        return {name: values * (1.0 + 1e-6 * (len(values) == 5)) for name, values in found.items()}

    case = case_of(toys, "fine_toy", "batches")
    monkeypatch.setattr(Bench, "outputs", lambda *a: drifting(*a) if a[0].algorithm.name == "fine_toy" else None)
    with pytest.raises(ConformanceError, match="'y' of a batch of 5 is not what the sample gives among 37"):
        case.run()


def test_plugins_by_file_module_name_and_algorithm(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(toys.parent))
    import conformance_toys

    names = [case.algorithm.name for case in conformance(toys, checks=["values"], robots=ROBOTS[:1])]
    assert names[:2] == ["fine_toy", "cancelling_toy"]
    by_module = conformance(conformance_toys, checks=["values"], robots=ROBOTS[:1])
    assert [case.algorithm.name for case in by_module] == names
    (alone,) = conformance(conformance_toys.grid_algorithms()[0], checks=["values"], robots=ROBOTS[:1])
    assert str(alone) == "fine_toy-fixed-values"
    family = [name for name in BUNDLED if load_catalogue().providers[name].name == "kinematics"]
    assert [case.algorithm.name for case in conformance("kinematics", checks=["values"], robots=ROBOTS[:1])] == family


def test_unknown_plugins(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="there is no plugin 'kinematic'; did you mean 'kinematics'"):
        conformance("kinematic")
    with pytest.raises(PluginError, match=r"nothing.py does not exist; give the path of a Python file"):
        conformance(tmp_path / "nothing.py")
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1")
    with pytest.raises(PluginError, match=r"empty.py is broken: PluginError: it implements no hook"):
        conformance(empty)


def test_a_package_is_a_plugin(tmp_path: Path, robot_of: Callable[..., Any]) -> None:
    folder = tmp_path / "toy_package"
    folder.mkdir()
    (folder / "maths.py").write_text("FACTOR = 3.0\n")
    (folder / "__init__.py").write_text(
        textwrap.dedent("""
        from grid_core.plugins import Algorithm, Input, Output, hookimpl
        from toy_package.maths import FACTOR

        @hookimpl
        def grid_algorithms():
            q, y = Input("q", ("nq",), "configuration"), Output("y", (), "a number")
            return [Algorithm("packed_toy", "toys", "A toy.", (q,), (y,), emit)]

        def emit(k):
            k.output("y", FACTOR * k.input("q")[0])
        """)
    )
    assert [str(case) for case in conformance(folder, checks=["values"])] == [
        "packed_toy-fixed-values", "packed_toy-floating-values"
    ]  # fmt: skip
    robot = robot_of(folder)
    q = robot.random(0, 4)
    assert (robot.packed_toy(q) == 3.0 * q[:, 0]).all()


@pytest.fixture
def robot_of() -> Callable[..., Any]:
    import grid_rbd

    return lambda plugin: grid_rbd.load_robot(
        ROBOTS[0].urdf, algorithm_list="packed_toy", plugins=[plugin], device="reference", dtype="float64"
    )
