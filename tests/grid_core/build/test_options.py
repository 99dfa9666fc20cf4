"""Options: one canonical form for equal wishes, an error for wrong ones, a lossless record."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from grid_core.build.options import BuildOptions, make_options
from grid_core.errors import OptionError
from grid_core.kernel.settings import TraceSettings

SMOOTH: dict[str, Any] = {"use_joint_dynamics": True, "friction_model": "tanh"}


def test_defaults() -> None:
    assert make_options() == BuildOptions()
    assert make_options(use_joint_dynamics=True).settings == TraceSettings(joint_dynamics=True)


@pytest.mark.parametrize(
    ("width", "canonical"),
    [
        (None, 0.03),
        (1, 1.0),
        (np.float32(0.5), 0.5),
        (np.array(0.25), 0.25),
        ([0.1, 1], (0.1, 1.0)),
        (np.array([0.1, 0.2]), (0.1, 0.2)),
        ((0.5,), (0.5,)),
    ],
)
def test_widths(width: Any, canonical: Any) -> None:
    found = make_options(**SMOOTH, friction_width=width).settings.friction_width
    assert found == canonical
    assert type(found) is type(canonical)


@pytest.mark.parametrize("width", [0.0, -1.0, float("nan"), float("inf"), "wide", "0.5x", [0.1, None], object(), 1j])
def test_wrong_widths(width: Any) -> None:
    with pytest.raises(OptionError, match=r"friction_width is .*, expected positive finite numbers"):
        make_options(**SMOOTH, friction_width=width)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dtype": "double"}, "dtype is 'double', expected one of float32, float64"),
        ({"dtype": np.float64}, "dtype is <class"),
        (
            {"use_joint_dynamics": True, "friction_model": "step"},
            "friction_model is 'step', expected one of sign, tanh",
        ),
        ({"friction_model": "tanh"}, "set use_joint_dynamics=True to model it"),
        ({"friction_width": 0.1}, "set use_joint_dynamics=True to model it"),
        ({"use_joint_dynamics": True, "friction_width": 0.1}, "set friction_model='tanh' or leave it out"),
        ({"floating_base": "no"}, "floating_base is 'no', expected True or False"),
        ({"follow_mimic": 0}, "follow_mimic is 0, expected True or False"),
        ({"use_joint_dynamics": None}, "use_joint_dynamics is None, expected True or False"),
    ],
)
def test_wrong_options(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make_options(**wrong)


@pytest.mark.parametrize(
    "options",
    [
        BuildOptions(),
        make_options(floating_base=np.True_, follow_mimic=False, dtype="float64"),
        make_options(**SMOOTH, friction_width=[0.1, 0.2]),
        BuildOptions(settings=TraceSettings(runtime=frozenset(["transform", "inertia"]))),
    ],
)
def test_records_are_lossless(options: BuildOptions) -> None:
    text = json.dumps(options.to_json())
    assert BuildOptions.from_json(json.loads(text)) == options
    assert json.dumps(BuildOptions.from_json(json.loads(text)).to_json()) == text
