"""Tests that pytest does not find cannot fail."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def test_no_folder_of_tests_is_passed_over(pytestconfig: pytest.Config) -> None:
    """Pytest by itself leaves out folders with names such as "build"."""
    left_out = pytestconfig.getini("norecursedirs")
    folders = {folder for file in TESTS.rglob("test_*.py") for folder in file.relative_to(TESTS).parent.parts}
    assert {folder for folder in folders for pattern in left_out if fnmatch(folder, pattern)} == set()
