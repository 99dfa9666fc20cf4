"""The example family, built as a wheel and installed; its own tests run in a process of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from grid_core.kernel import trace_algorithm
from grid_core.kernel.kernel import Loop
from grid_core.plugins.manager import load_catalogue
from tests.examples.installed import install, run_tests
from tests.oracle.evaluation import quiet_model

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE = EXAMPLES / "plugin_coupling"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return install(EXAMPLE, tmp_path_factory.mktemp("coupling"))


def test_its_own_tests_pass(environment: dict[str, str]) -> None:
    said = run_tests(EXAMPLE, environment)
    assert re.search(r"\d+ passed", said), said


def test_it_is_installed_with_its_template(environment: dict[str, str]) -> None:
    program = "from grid_core.plugins.manager import load_catalogue as l; print(l().providers['mass_coupling'])"
    program += "; print(*[s.template for p in l().plugins for s in p.sections if p.name == 'coupling'])"
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["coupling 1.0 (package grid-coupling)", "coupling.hpp.j2"]


def test_its_value_is_a_loop() -> None:
    catalogue = load_catalogue((str(EXAMPLE / "grid_coupling"),))
    model = quiet_model(EXAMPLES / "robots" / "arm7.urdf")
    kernel = trace_algorithm(catalogue.algorithms["mass_coupling"], model, catalogue.algorithms)
    (loop,) = (action for action in kernel.actions if isinstance(action, Loop))
    assert len(loop.table) == model.nv**2
