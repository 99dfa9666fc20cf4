"""Hints of error messages."""

from __future__ import annotations

import pytest

from grid_core.errors import nearest


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("minw", ("minv", "crba"), "; did you mean 'minv'?"),
        (
            "integrate",
            ("integrator", "configuration_integrate"),
            "; did you mean 'configuration_integrate' or 'integrator'?",
        ),
        ("pose", ("superposed_plan",), ""),
        ("", ("minv",), ""),
    ],
)
def test_nearest_names_contain_the_words_or_are_spelled_alike(name: str, known: tuple[str, ...], hint: str) -> None:
    assert nearest(name, known) == hint
