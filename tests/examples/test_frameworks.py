"""The examples with frameworks run, find what they look for, and draw it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
ROOTS = ":".join(str(CHECKOUT / folder) for folder in (".", "store", "backends", "consumers"))
RUN = """
import runpy, sys
sys.path[:0] = sys.argv[1].split(":")
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize(
    ("example", "framework", "said", "bounds"),
    [
        ("inverse_kinematics_jax", "jax", r"median distance: (\S+) mm before, (\S+) mm after", ((300, 2000), (0, 1))),
        ("policy_torch", "torch", r"goals: (\S+) rad before, (\S+) rad after", ((1.0, 3.0), (0.0, 1.2))),
        ("identification_jax", "jax", r"mass (\S+) kg.*; centre (\S+) ", ((1.65, 1.75), (28.0, 32.0))),
    ],
)
def test_an_example(
    example: str, framework: str, said: str, bounds: tuple[tuple[float, float], ...], tmp_path: Path
) -> None:
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    pytest.importorskip("matplotlib", reason="pictures are drawn with matplotlib, which is not installed")
    picture = tmp_path / "picture.png"
    script = CHECKOUT / "examples" / f"{example}.py"
    ran = subprocess.run(
        [sys.executable, "-c", RUN, ROOTS, script, "--output", picture],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    found = re.search(said, ran.stdout)
    assert found, ran.stdout
    for value, (low, high) in zip(map(float, found.groups()), bounds, strict=True):
        assert low <= value <= high, ran.stdout
    assert picture.stat().st_size > 10_000
