"""The package of the compiled runner."""

from __future__ import annotations

import importlib
import sys

import pytest

from grid_backends.errors import RunnerMissingError


def test_a_missing_runner_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "grid_backends.native", raising=False)
    monkeypatch.setitem(sys.modules, "grid_backends.native._runner", None)
    with pytest.raises(
        RunnerMissingError, match=r"Install a C\+\+17 compiler .* reinstall .* device='reference'"
    ) as raised:
        importlib.import_module("grid_backends.native")
    assert isinstance(raised.value, ImportError)
