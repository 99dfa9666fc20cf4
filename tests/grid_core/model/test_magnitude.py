"""Numbers of a description that are very large or small, and names that are empty."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest

from grid_core.errors import MimicResolutionError, URDFParseError
from grid_core.model import Model, URDFWarning, load_model

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
AXIS = '<axis xyz="0 0 1"/>'
LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'


def pendulum(*, body: str = BODY, inside: str = AXIS + LIMIT, link: str = "arm", joint: str = "hinge") -> str:
    return (
        f'<robot name="r"><link name="base"/><link name="{link}">{body}</link><joint name="{joint}" type="revolute">'
        f'<parent link="base"/><child link="{link}"/>{inside}</joint></robot>'
    )


@pytest.mark.parametrize("size", [1e308, 1e200, 1e160, 1e-160, 1e-162, 1e-310, 5e-324])
def test_axes_of_any_length_only_point(quiet_load: Callable[..., Model], size: float) -> None:
    one, three = (f'<axis xyz="{x!r} {y!r} 0"/>{LIMIT}' for x, y in ((-size, 0.0), (size, size)))
    assert quiet_load(pendulum(inside=one)).joints[0].axis == (-1.0, 0.0, 0.0)
    np.testing.assert_allclose(quiet_load(pendulum(inside=three)).joints[0].axis, [0.5**0.5, 0.5**0.5, 0.0], rtol=1e-15)


def test_unit_axes_stay_as_they_are_written() -> None:
    assert load_model(pendulum(inside=f'<axis xyz="0.6 0 -0.8"/>{LIMIT}')).joints[0].axis == (0.6, 0.0, -0.8)


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ("link 'arm'", pendulum(body=BODY.replace("<mass", '<origin xyz="1e200 0 0"/><mass'))),
        ("link 'arm'", pendulum(body=BODY.replace('mass value="1"', 'mass value="1e200"'))),
        ("link 'arm'", pendulum(body=BODY.replace('ixx="1"', 'ixx="1e200"'))),
        ("joint 'hinge'", pendulum(inside=f'<origin xyz="0 1e200 0"/>{AXIS}{LIMIT}')),
        ("joint 'hinge'", pendulum(inside=f'{AXIS}{LIMIT}<dynamics damping="1e200"/>')),
    ],
)
def test_numbers_beyond_the_bound_are_refused(item: str, text: str) -> None:
    with pytest.raises(URDFParseError, match=rf"{item}: .*1e200 is larger than 1e\+09, .*check its unit"):
        load_model(text)


def test_the_largest_numbers_have_finite_parameters_in_single_precision(quiet_load: Callable[..., Model]) -> None:
    body = BODY.replace("<mass", '<origin xyz="1e9 -1e9 1e9"/><mass').replace('"1"', '"1e9"')
    assert np.isfinite(quiet_load(pendulum(body=body)).inertia_parameters.astype(np.float32)).all()


def test_limits_beyond_the_bound_are_none() -> None:
    limit = '<limit lower="-1e308" upper="1e308" velocity="1e16" effort="1e9"/>'
    with pytest.warns(URDFWarning, match=r"joint 'hinge': .* limit .* is beyond 1e\+09; infinity is used"):
        model = load_model(pendulum(inside=AXIS + limit))
    joint = model.joints[0]
    assert (joint.lower, joint.upper, joint.velocity_limit) == (-math.inf, math.inf, math.inf)
    assert joint.effort_limit == 1e9
    assert np.abs(model.random(0, 100)).max() <= math.pi


def test_infinite_limits_need_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_model(pendulum(inside=f'{AXIS}<limit lower="-inf" upper="inf" velocity="inf" effort="inf"/>'))


def test_multipliers_of_a_chain_stay_within_the_bound() -> None:
    parts = [
        f'<link name="l{i}">{BODY}</link><joint name="j{i}" type="continuous"><parent link="l{i - 1}"/>'
        f'<child link="l{i}"/>{AXIS}' + (f'<mimic joint="j{i - 1}" multiplier="1e8"/>' if i > 1 else "") + "</joint>"
        for i in range(1, 4)
    ]
    with pytest.raises(MimicResolutionError, match=r"joint 'j3': follows 'j1' along its chain with multiplier 1e\+16"):
        load_model('<robot name="r"><link name="l0"/>' + "".join(parts) + "</robot>")


@pytest.mark.parametrize(("item", "text"), [("joint", pendulum(joint="")), ("link", pendulum(link=" "))])
def test_empty_names_are_refused(item: str, text: str) -> None:
    with pytest.raises(URDFParseError, match=f"{item} ' ?': the name is empty"):
        load_model(text)


def test_robots_with_empty_names_have_none() -> None:
    with pytest.warns(URDFWarning, match='robot: has no name, "robot" is used'):
        assert load_model(pendulum().replace('robot name="r"', 'robot name=" "')).name == "robot"
