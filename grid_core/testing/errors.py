"""What a case raises."""

from __future__ import annotations

from unittest import SkipTest

from grid_core.errors import GridError


class ConformanceError(GridError, AssertionError):
    """An algorithm breaks a rule that every algorithm keeps; the message names both, and what to do."""


class NotApplicable(SkipTest):
    """A case says nothing about an algorithm, or needs what is not installed; test runners count it as skipped."""
