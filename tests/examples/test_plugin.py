"""The example plugin, built as a wheel, installed, and found through its entry point by a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.installed import install

CHECKOUT = Path(__file__).parents[2]
EXAMPLE = CHECKOUT / "examples" / "plugin_kinetic_energy"
PENDULUM = CHECKOUT / "tests" / "golden" / "double_pendulum_continuous.urdf"

USE = """
import numpy as np, grid_rbd, sys
robot = grid_rbd.load_robot(sys.argv[1], dtype="float64", algorithm_list=["kinetic_energy_gradient"])
q, qd = robot.random(0, 50), np.random.default_rng(0).standard_normal((50, robot.nv))
gradient, energy, m = robot.kinetic_energy_gradient(q, qd), robot.kinetic_energy(q, qd), robot.crba(q)
np.testing.assert_allclose(energy, 0.5 * np.einsum("bi,bij,bj->b", qd, m, qd), rtol=1e-12)
np.testing.assert_allclose(gradient[:, robot.nv:], np.einsum("bij,bj->bi", m, qd), rtol=1e-12)
reference = grid_rbd.load_robot(sys.argv[2], dtype="float64", floating_base=True, device="reference")
q, qd, h = reference.random(0, 5), np.random.default_rng(0).standard_normal((5, reference.nv)), 1e-6
gradient = reference.kinetic_energy_gradient(q, qd)
for slot in range(reference.nv):
    step = h * np.eye(reference.nv)[slot]
    ahead, behind = (reference.kinetic_energy(reference.model.integrate(q, s), qd) for s in (step, -step))
    np.testing.assert_allclose(gradient[:, slot], (ahead - behind) / (2 * h), atol=1e-6)
print(robot.kinetic_energy.__doc__)
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the plugin is installed beside the project."""
    return install(EXAMPLE, tmp_path_factory.mktemp("plugin"))


def test_it_is_short() -> None:
    assert len((EXAMPLE / "grid_kinetic_energy.py").read_text().splitlines()) < 25


def test_its_algorithms_are_methods_of_every_robot(environment: dict[str, str]) -> None:
    quadruped = CHECKOUT / "examples" / "robots" / "quadruped12.urdf"
    ran = subprocess.run(
        [sys.executable, "-c", USE, str(PENDULUM), str(quadruped)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "kinetic energy (J)" in ran.stdout


def test_the_command_line_lists_it(environment: dict[str, str]) -> None:
    program = "from grid_rbd.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", program, "plugins", "--json"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    plugins = {plugin["name"]: plugin for plugin in json.loads(ran.stdout)["plugins"]}
    found = plugins["kinetic_energy"]
    assert (found["version"], found["origin"]) == ("1.0", "package grid-kinetic-energy")
    assert [algorithm["name"] for algorithm in found["algorithms"]] == ["kinetic_energy", "kinetic_energy_gradient"]


def test_it_can_be_left_out(environment: dict[str, str]) -> None:
    program = "from grid_core.plugins.manager import load_catalogue; print('crba' in load_catalogue().algorithms)"
    program += "; print('kinetic_energy' in load_catalogue().algorithms)"
    left_out = {**environment, "GRID_RBD_DISABLE_PLUGINS": "kinetic_energy"}
    ran = subprocess.run([sys.executable, "-c", program], env=left_out, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "False"]
