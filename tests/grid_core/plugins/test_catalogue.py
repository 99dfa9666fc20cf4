"""Look-up: names, aliases, profiles, spelling, closure, and the digests behind an algorithm."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from grid_core.errors import OptionError, PluginError
from grid_core.plugins import Algorithm, Input, hookimpl
from grid_core.plugins.algorithm import Choice, Scan
from grid_core.plugins.catalogue import Catalogue, Plugin
from grid_core.plugins.manager import collect, load_catalogue
from tests.grid_core.units import toy


def plugin(name: str, *algorithms: Algorithm, digest: str = "") -> tuple[Plugin, object]:
    @hookimpl
    def grid_algorithms() -> tuple[Algorithm, ...]:
        return algorithms

    return Plugin(name, "1", "test", digest or f"digest-{name}"), SimpleNamespace(grid_algorithms=grid_algorithms)


def named(name: str, **fields: Any) -> Algorithm:
    return replace(toy(name, {"x": "nv"}, {"y": "nv"}, lambda k: None), **fields)


@pytest.fixture
def catalogue() -> Catalogue:
    frames = ("frame-jacobian",)
    return collect(
        [
            plugin("base", named("pose", profiles=frames), named("minv"), named("frame_jacobian", requires=("pose",))),
            plugin("more", named("frame_jacobian_dot", requires=("frame_jacobian", "minv"), profiles=frames,
                                   aliases=("jdot",))),
        ]
    )  # fmt: skip


def test_profiles_hold_their_members(catalogue: Catalogue) -> None:
    assert catalogue.profiles == {
        "all": ("pose", "minv", "frame_jacobian", "frame_jacobian_dot"),
        "frame-jacobian": ("pose", "frame_jacobian_dot"),
    }


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (None, ("pose", "minv", "frame_jacobian", "frame_jacobian_dot")),
        ("all", ("pose", "minv", "frame_jacobian", "frame_jacobian_dot")),
        ("ALL", ("pose", "minv", "frame_jacobian", "frame_jacobian_dot")),
        ("frame-jacobian", ("pose", "frame_jacobian_dot")),
        ("frame_jacobian", ("frame_jacobian",)),
        ("Frame_Jacobian", ("frame_jacobian",)),
        ("FRAME-JACOBIAN", ("frame_jacobian",)),
        ("Frame-Jacobian-Dot", ("frame_jacobian_dot",)),
        ("jdot", ("frame_jacobian_dot",)),
        ("minv, pose", ("pose", "minv")),
        ("minv;pose,;", ("pose", "minv")),
        (["minv", " pose ", "minv"], ("pose", "minv")),
        (("frame-jacobian", "minv"), ("pose", "minv", "frame_jacobian_dot")),
    ],
)
def test_spelling(catalogue: Catalogue, request_: Any, expected: tuple[str, ...]) -> None:
    assert catalogue.select(request_) == expected


def test_unknown_names_get_the_nearest(catalogue: Catalogue) -> None:
    with pytest.raises(OptionError) as caught:
        catalogue.select(["pose", "frame_jacobain"])
    message = str(caught.value)
    assert "unknown algorithm or profile 'frame_jacobain'; did you mean 'frame_jacobian'" in message
    assert "algorithms: pose, minv, frame_jacobian, frame_jacobian_dot; profiles: all, frame-jacobian" in message


@pytest.mark.parametrize("nothing", ["", " , ;", [], ["", " "]])
def test_an_empty_list(catalogue: Catalogue, nothing: Any) -> None:
    with pytest.raises(OptionError, match="algorithm_list is empty; name at least one"):
        catalogue.select(nothing)


@pytest.mark.parametrize("wrong", [5, [1], {"minv": True}, ["minv", None], b"minv"])
def test_what_is_no_list_of_names(catalogue: Catalogue, wrong: Any) -> None:
    with pytest.raises(OptionError, match=r"algorithm_list is .*expected names of algorithms and profiles"):
        catalogue.select(wrong)


def test_closure_follows_edges_in_declaration_order(catalogue: Catalogue) -> None:
    assert catalogue.closure(["frame_jacobian_dot"]) == ("pose", "minv", "frame_jacobian", "frame_jacobian_dot")
    assert catalogue.closure(["minv"]) == ("minv",)


def test_digests_are_those_of_all_contributors(catalogue: Catalogue) -> None:
    assert catalogue.digests("minv") == {"base": "digest-base"}
    assert catalogue.digests("frame_jacobian_dot") == {"base": "digest-base", "more": "digest-more"}


def test_plugins_of_one_name_both_count() -> None:
    def digests(first: str, second: str) -> dict[str, str]:
        user = named("user", requires=("minv",))
        return collect(
            [plugin("same", named("minv"), digest=first), plugin("same", user, digest=second)]
        ).digests("user")  # fmt: skip

    assert digests("a", "b") != digests("c", "b")
    assert digests("a", "b") != digests("a", "c")


def test_a_catalogue_names_what_is_missing() -> None:
    algorithms = {"user": named("user", requires=("minw",)), "minv": named("minv")}
    providers = dict.fromkeys(algorithms, Plugin("p", "2.1", "package p", ""))
    with pytest.raises(PluginError, match=r"'user' of p 2.1 \(package p\) requires 'minw'.*did you mean 'minv'"):
        Catalogue(algorithms, providers, ())


def test_bundled_profiles() -> None:
    catalogue = load_catalogue()
    core = {"inverse_dynamics", "minv", "forward_dynamics"}
    gradients = {"inverse_dynamics_gradient", "forward_dynamics_gradient"}
    assert set(catalogue.select("dynamics-core")) == core
    assert set(catalogue.select("dynamics_gradients")) == core | gradients | {"f_ext_gradient"}
    assert set(catalogue.select("f-ext-gradient")) == {"inverse_dynamics", "minv", "f_ext_gradient"}
    energies = {"kinetic_energy_regressor", "potential_energy_regressor"}
    assert set(catalogue.select("regressor")) == {"inverse_dynamics", "inverse_dynamics_regressor"} | energies
    assert set(catalogue.select("energy-regressor")) == {"inverse_dynamics", "end_effector_pose"} | energies
    parameters = {"inverse_dynamics_regressor", "forward_dynamics_parameter_gradient"}
    assert set(catalogue.select("fd-param-gradient")) == core | parameters
    assert set(catalogue.select("second-order")) >= core | gradients
    assert set(catalogue.select("dynamics")) >= core | gradients | {"aba", "crba"}
    assert set(catalogue.select("rnea,fd")) == {"inverse_dynamics", "forward_dynamics"}


def test_what_a_method_calls_takes_its_inputs_and_gives_its_outputs() -> None:
    ways = Choice("way", "a", {"a": "one", "b": "two"}, "Which.")
    either = named("either", emit=None, requires=("one", "two"), choice=ways)
    collect([plugin("base", named("one"), named("two"), either)])
    stacked = replace(either, inputs=(Input("z", ("nx",), ""),), choice=replace(ways, stacked={"z": ("x",)}))
    collect([plugin("base", named("one"), named("two"), stacked)])
    walk = named("walk", emit=None, requires=("one",), scan=Scan("one", ("x",), ("x",)))
    collect([plugin("base", named("one"), walk)])

    other = toy("two", {"other": "nv"}, {"y": "nv"}, lambda k: None)
    with pytest.raises(PluginError, match="'either' passes x to 'two', which takes other; declare the same inputs"):
        collect([plugin("base", named("one"), other, either)])
    square = toy("one", {"x": "nv"}, {"y": "nq"}, lambda k: None)
    for caller in (either, walk):
        with pytest.raises(
            PluginError, match=r"returns shapes \[\('nv',\)\], but 'one', which it calls, \[\('nq',\)\]"
        ):
            collect([plugin("base", square, named("two"), caller)])
