"""The example of a consumer project, built as a wheel and installed; its own tests run in a process of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
EXAMPLE = CHECKOUT / "examples" / "consumer_horizon_cost"
ARM = CHECKOUT / "examples" / "robots" / "arm7.urdf"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed project and its tests."""
    source = shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("source") / "project")
    site = tmp_path_factory.mktemp("site")
    build = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(site)], cwd=source, check=True, capture_output=True)
    (wheel,) = site.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    shutil.copytree(EXAMPLE / "tests", site / "tests")
    shutil.copy(EXAMPLE / "pyproject.toml", site)
    return site


def run_tests(site: Path, *arguments: str) -> str:
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path]), "GRID_HORIZON_ROBOT": str(ARM)
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, "tests"]
    ran = subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_its_own_tests_pass(site: Path) -> None:
    assert re.search(r"[45] passed", run_tests(site)), "those for GPUs are left out where nobody asks for them"


@pytest.mark.gpu
def test_its_own_tests_pass_on_a_gpu(site: Path) -> None:
    assert "1 passed" in run_tests(site, "-m", "gpu")


def test_it_is_installed_with_its_sources(site: Path) -> None:
    installed = {path.name for path in (site / "grid_horizon" / "native").iterdir()}
    assert installed == {path.name for path in (EXAMPLE / "grid_horizon" / "native").iterdir()}
