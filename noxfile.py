"""The developer manual as code: ``nox -l`` lists the checks, ``nox -s NAME`` runs one in an environment of its own.

Arguments after ``--`` go to the tool: ``nox -s tests -- -k rnea -x``.
"""

from __future__ import annotations

import os
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "types", "imports", "tests"]

PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
XDIST = ["-n", os.environ.get("GRID_RBD_TEST_WORKERS", "2")]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the tests on every supported Python."""
    session.install("-e", ".[test,jax]")
    session.run("pytest", *XDIST, *session.posargs)


@nox.session(name="tests-lowest", python=PYTHONS[0])
def tests_lowest(session: nox.Session) -> None:
    """Run the tests with the lowest supported version of every dependency (requirements-lowest.txt)."""
    session.install("-e", ".", "-r", "requirements-lowest.txt")
    session.run("pytest", *XDIST, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting with ruff; `nox -s lint -- --fix` mends what it can."""
    session.install(".[lint]")
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", *([] if "--fix" in session.posargs else ["--check"]))


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy in strict mode."""
    session.install("-e", ".[lint]")
    session.run("mypy", *session.posargs)


@nox.session
def imports(session: nox.Session) -> None:
    """Check that imports go downwards through the layers and that families stay apart."""
    session.install("-e", ".[lint]")
    session.run("lint-imports", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation into docs/_build; a warning is an error."""
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure speed, builds and sizes against their bars and Pinocchio; one line `name.metric value` each (minutes)."""
    session.install("-e", ".[bench]")
    session.run("python", "-m", "benchmarks", *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """Run the sweeps that every day leaves out: large robots, every precision and option (minutes)."""
    session.install("-e", ".[test]")
    session.run("pytest", *XDIST, "-m", "slow", *session.posargs)


@nox.session
def stress(session: nox.Session) -> None:
    """Kill writers of a store at random times, and let 32 processes ask for one robot (minutes)."""
    session.install("-e", ".[test]")
    session.run("pytest", "tests", "-m", "stress", *session.posargs)


@nox.session
def sanitize(session: nox.Session) -> None:
    """Run emitted C++ under the address and undefined-behaviour sanitizers (minutes)."""
    session.install("-e", ".[test]")
    session.run("pytest", "tests", "-m", "sanitize", *session.posargs)


@nox.session(name="cuda-compile")
def cuda_compile(session: nox.Session) -> None:
    """Compile the CUDA units of every algorithm for small robots; skips without nvcc, needs no GPU (a minute)."""
    session.install("-e", ".[test]")
    session.run("pytest", "tests", "-m", "cuda_compile", *session.posargs)


@nox.session(venv_params=["--system-site-packages"])
def gpu(session: nox.Session) -> None:
    """Run the tests that need a GPU and nvcc, with the CuPy and PyTorch of the system; they skip what is not there."""
    session.install("-e", ".[test]")
    others = ["--ignore", "tests/grid_backends/cuda/test_sanitizer.py"]
    session.run("pytest", "tests", "-m", "gpu", *others, *XDIST, "--dist", "loadgroup", *session.posargs)


@nox.session(name="gpu-sanitize", venv_params=["--system-site-packages"])
def gpu_sanitize(session: nox.Session) -> None:
    """Run every CUDA kernel under compute-sanitizer's memcheck and racecheck (long); skips where it does not work."""
    session.install("-e", ".[test]")
    session.run("pytest", "tests/grid_backends/cuda/test_sanitizer.py", "-m", "gpu", "-rs", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Run the tests and show which lines and branches they leave out; HTML in htmlcov/."""
    session.install("-e", ".[test]")
    session.run("pytest", *XDIST, "--cov", "--cov-report=term", "--cov-report=html", *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the source archive and from it the wheel, install it alone and use it away from the checkout."""
    session.install("build")
    folder = session.create_tmp()
    session.run("python", "-m", "build", "--outdir", folder)
    session.install("--force-reinstall", *map(str, Path(folder).glob("*.whl")))
    session.cd(folder)
    session.run("python", "-c", "import grid_rbd, grid_backends.native._runner; print(grid_rbd.__version__)")
