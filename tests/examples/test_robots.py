"""The example robots: what their scripts write, physically valid, and read by the model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from grid_core.model import Model, load_model

ROBOTS = Path(__file__).parents[2] / "examples" / "robots"
NAMES = {"arm7": "make_arm.py", "quadruped12": "make_quadruped.py", "humanoid29": "make_humanoid.py"}
MASSES = {"arm7": 23.85, "quadruped12": 14.44, "humanoid29": 33.89}


@pytest.mark.parametrize(("name", "script"), NAMES.items())
def test_the_file_is_what_its_script_writes(name: str, script: str) -> None:
    done = subprocess.run([sys.executable, script], cwd=ROBOTS, capture_output=True, text=True, check=True)
    assert done.stdout == (ROBOTS / f"{name}.urdf").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_every_body_is_physical(name: str) -> None:
    model = load_model(ROBOTS / f"{name}.urdf", floating_base=True)
    assert sum(body.mass for body in model.bodies) == pytest.approx(MASSES[name], abs=0.01)
    for body in model.bodies:
        about_center = body.inertia - body.mass * spread(np.asarray(body.first_moment) / body.mass)
        moments = np.linalg.eigvalsh(about_center)
        assert moments[0] > 0.0, body.name
        assert moments[0] + moments[1] >= moments[2] * (1.0 - 1e-5), body.name


@pytest.mark.parametrize(("name", "floating", "nq", "nv"), [("arm7", False, 7, 7), ("quadruped12", True, 19, 18)])
def test_dimensions(name: str, floating: bool, nq: int, nv: int) -> None:
    model = load_model(ROBOTS / f"{name}.urdf", floating_base=floating)
    assert (model.nq, model.nv) == (nq, nv)


@pytest.mark.parametrize(("floating", "nq", "nv"), [(False, 29, 29), (True, 36, 35)])
def test_the_humanoid_may_stand_or_float(floating: bool, nq: int, nv: int) -> None:
    model = load_model(ROBOTS / "humanoid29.urdf", floating_base=floating)
    assert (model.nq, model.nv) == (nq, nv)


@pytest.mark.parametrize(("name", "pairs"), [("quadruped12", "fl fr, rl rr"), ("humanoid29", "left right")])
def test_left_and_right_mirror_each_other(name: str, pairs: str) -> None:
    model = load_model(ROBOTS / f"{name}.urdf", floating_base=True)
    for left, right in (pair.split() for pair in pairs.split(", ")):
        for index in bodies_of(model, left):
            twin = body_index(model, model.bodies[index].name.replace(left, right, 1))
            assert model.bodies[twin].mass == model.bodies[index].mass
            mirrored = np.asarray(model.bodies[index].first_moment) * [1.0, -1.0, 1.0]
            np.testing.assert_allclose(model.bodies[twin].first_moment, mirrored, atol=1e-9)


def spread(center: np.ndarray) -> np.ndarray:
    return center @ center * np.eye(3) - np.outer(center, center)


def bodies_of(model: Model, side: str) -> list[int]:
    found = [index for index, body in enumerate(model.bodies) if body.name.startswith(f"{side}_")]
    assert found
    return found


def body_index(model: Model, name: str) -> int:
    return [body.name for body in model.bodies].index(name)
