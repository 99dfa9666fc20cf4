"""Example projects as users have them: built as a wheel, installed, and used by processes of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


def install(project: Path, folder: Path) -> dict[str, str]:
    """Install a project below a folder and return the environment of processes that have it beside grid-rbd."""
    source, site = shutil.copytree(project, folder / "source"), folder / "site"
    site.mkdir()
    subprocess.run([sys.executable, "-c", BUILD, str(site)], cwd=source, check=True, capture_output=True)
    (wheel,) = site.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])}


def run_tests(project: Path, environment: dict[str, str], arguments: Sequence[str] = ()) -> str:
    """Run a project's own tests away from its sources and return what pytest says."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", *arguments]
    ran = subprocess.run(
        [*command, "--rootdir", str(project), str(project / "tests")],
        cwd=project.parent, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
