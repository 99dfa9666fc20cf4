"""Descriptions from the wild, in small: every file of the corpus meets the outcome that its sidecar states.

A sidecar ``<name>.json`` holds ``why`` and any of

- ``options``: arguments of ``load_model``;
- ``error``, ``mentions``, ``not_mentions``: the exception and what its message says;
- ``warnings``: one list of words per :class:`URDFWarning`, in any order; there are no others;
- ``notes``: words that the log mentions;
- ``facts``: paths into the model (``joints.0.axis``, ``frame:tip.body``, ``supports:1``) and their values.
"""

from __future__ import annotations

import json
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grid_core import errors
from grid_core.model import Model, URDFWarning, load_model

CORPUS = Path(__file__).parents[2] / "corpus" / "urdf"
NAMES = sorted(path.stem for path in CORPUS.glob("*.urdf"))


def look_up(model: Model, path: str) -> Any:
    """The value at a path such as ``bodies.0.mass`` or ``frame:tip.placement.translation``."""
    head, *rest = path.split(".")
    method, _, argument = head.partition(":")
    value: Any = getattr(model, method)
    if method == "frame":
        value = model.frame(argument)
    elif method == "supports":
        value = model.supports(int(argument))
    elif method == "neutral":
        value = model.neutral()
    for key in rest:
        value = value[int(key)] if key.isdigit() else getattr(value, key)
    return value


def agrees(found: Any, expected: Any) -> bool:
    """Equal, numbers up to rounding; infinities are written as text."""
    if isinstance(expected, list):
        found = list(found)
        return len(found) == len(expected) and all(agrees(a, b) for a, b in zip(found, expected, strict=True))
    if isinstance(found, float | np.floating):
        return bool(np.isclose(float(found), float(expected), rtol=1e-12, atol=0))
    return bool(found == expected)


def check_warnings(caught: list[warnings.WarningMessage], expected: list[list[str]]) -> None:
    texts = [str(warning.message) for warning in caught if warning.category is URDFWarning]
    for words in expected:
        assert [text for text in texts if all(word in text for word in words)], f"no warning has {words}: {texts}"
    assert len(texts) == len(expected), texts


@pytest.mark.parametrize("name", NAMES)
def test_corpus(name: str, caplog: pytest.LogCaptureFixture) -> None:
    expected = json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8"))
    path = CORPUS / f"{name}.urdf"
    with warnings.catch_warnings(record=True) as caught, caplog.at_level(logging.INFO, logger="grid_rbd.model"):
        warnings.simplefilter("always", URDFWarning)
        if "error" in expected:
            with pytest.raises(errors.URDFParseError) as raised:
                load_model(path, **expected.get("options", {}))
        else:
            model = load_model(path, **expected.get("options", {}))
    check_warnings(caught, expected.get("warnings", []))
    assert all(note in caplog.text for note in expected.get("notes", []))
    if "error" in expected:
        assert type(raised.value) is getattr(errors, expected["error"])
        message = str(raised.value)
        assert [word for word in expected["mentions"] if word not in message] == [], message
        assert [word for word in expected.get("not_mentions", []) if word in message] == [], message
        return
    wrong = {
        key: look_up(model, key)
        for key, value in expected.get("facts", {}).items()
        if not agrees(look_up(model, key), value)
    }
    assert wrong == {}
    assert Model.from_json(model.to_json()).to_json() == model.to_json()


def test_every_sidecar_has_a_file() -> None:
    assert sorted(path.stem for path in CORPUS.glob("*.json")) == NAMES
