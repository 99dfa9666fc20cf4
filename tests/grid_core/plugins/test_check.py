"""Declarations that cannot become code are refused when they are declared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grid_core.errors import PluginError
from grid_core.model import Model
from grid_core.plugins import Absent, Algorithm, Input, Output
from grid_core.plugins.algorithm import Choice, Scan
from grid_core.plugins.check import CPP_WORDS, RESERVED, check_algorithm
from grid_core.plugins.manager import load_catalogue
from grid_core.toolchains import CxxCompiler
from tests.grid_core.units import compile_algorithm

GOOD = Algorithm(
    "good", "toys", "A toy.", (Input("q", ("nq",), "in"),), (Output("y", ("nv", "2*nv"), "out"),), lambda k: None
)
ALL = load_catalogue().algorithms.values()


@pytest.mark.parametrize("algorithm", [GOOD, *ALL], ids=lambda a: a.name)
def test_good_declarations_pass(algorithm: Algorithm) -> None:
    check_algorithm(algorithm)


@pytest.mark.parametrize(
    "name",
    ["", "2fast", "a-b", "a b", "größe", "a\n", "_a", "class", "lambda", "double", "nullptr", "false",
     "ws", "x12", 'a"; }', "static_assert", "model", "detail"],
)  # fmt: skip
def test_names(name: str) -> None:
    rule = "cannot be used in generated code; use lower case letters, digits and _"
    with pytest.raises(PluginError, match=rf"(?s)algorithm .*{rule}"):
        check_algorithm(replace(GOOD, name=name))
    with pytest.raises(PluginError, match=rf"(?s)algorithm 'good': .*{rule}"):
        check_algorithm(replace(GOOD, aliases=("fine", name)))
    with pytest.raises(PluginError, match=rf"(?s)argument of 'good': .*{rule}"):
        check_algorithm(replace(GOOD, inputs=(Input(name, ("nq",), "in"),)))
    with pytest.raises(PluginError, match=rf"(?s)argument of 'good': .*{rule}"):
        check_algorithm(replace(GOOD, outputs=(Output(name, ("nq",), "in"),)))


def test_arguments_have_mathematical_names() -> None:
    check_algorithm(replace(GOOD, inputs=(Input("Q", ("nq",), "in"),), outputs=(Output("dM_dq", ("nq",), "out"),)))
    for taken in ("T", "V"):
        with pytest.raises(PluginError, match=f"argument of 'good': the name '{taken}' cannot be used"):
            check_algorithm(replace(GOOD, inputs=(Input(taken, ("nq",), "in"),)))
    with pytest.raises(PluginError, match="algorithm 'Minv': the name 'Minv' cannot be used"):
        check_algorithm(replace(GOOD, name="Minv"))


def test_names_of_results() -> None:
    pair = replace(GOOD, outputs=(Output("a", ("nq",), "out"), Output("b", ("nq",), "out")))
    check_algorithm(replace(pair, result="PairOfToys"))
    with pytest.raises(PluginError, match="'good' has one output, so that its result 'PairOfToys' is no tuple"):
        check_algorithm(replace(GOOD, result="PairOfToys"))
    for name in ("pair", "None", "A b", "A_b"):
        with pytest.raises(PluginError, match=f"the result '{name}' is no class name; use words that begin"):
            check_algorithm(replace(pair, result=name))


@pytest.mark.parametrize("name", ["neutral", "nq", "capabilities", "threads_per_block"])
def test_names_of_handle_attributes(name: str) -> None:
    rule = rf"every handle has an attribute '{name}', which a method of that name would hide; rename the algorithm or"
    with pytest.raises(PluginError, match=f"algorithm '{name}': {rule}"):
        check_algorithm(replace(GOOD, name=name))
    with pytest.raises(PluginError, match=f"algorithm 'good': {rule}"):
        check_algorithm(replace(GOOD, aliases=(name,)))
    check_algorithm(replace(GOOD, inputs=(Input("neutral", ("nq",), "in"),)))


@pytest.mark.parametrize(
    "shape",
    [("nz",), ("nv+",), ("2 nv",), ("-1",), ("0",), ("nv*0",), ("",), ("nv*",), ("1.5",), (3,), (None,), None,
     "nv", "33", ("²",)],
)  # fmt: skip
def test_shapes(shape: Any) -> None:
    with pytest.raises(PluginError, match=r"good: shape .* of 'y' is not understood; give a tuple of axes"):
        check_algorithm(replace(GOOD, outputs=(Output("y", shape, "out"),)))


def test_the_empty_shape_is_a_number() -> None:
    check_algorithm(replace(GOOD, outputs=(Output("y", (), "out"),)))


def test_repeated_names() -> None:
    q, y = GOOD.inputs[0], GOOD.outputs[0]
    with pytest.raises(PluginError, match="good: input 'q' is declared twice; rename one"):
        check_algorithm(replace(GOOD, inputs=(q, q)))
    with pytest.raises(PluginError, match="good: output 'y' is declared twice"):
        check_algorithm(replace(GOOD, outputs=(y, y)))
    with pytest.raises(PluginError, match="good: 'q' is both an input and an output"):
        check_algorithm(replace(GOOD, outputs=(replace(y, name="q"),)))


def test_required_inputs_come_first() -> None:
    q = GOOD.inputs[0]
    late = replace(q, name="late", absent=Absent.ZERO)
    with pytest.raises(PluginError, match="good: input 'q' is required but follows 'late', which is not; reorder"):
        check_algorithm(replace(GOOD, inputs=(late, q)))
    check_algorithm(replace(GOOD, inputs=(replace(late, keyword_only=True), q)))


def test_other_rules() -> None:
    with pytest.raises(PluginError, match="has no outputs; declare at least one"):
        check_algorithm(replace(GOOD, outputs=()))
    with pytest.raises(PluginError, match="emit is 'trace'; give the function that traces it"):
        check_algorithm(replace(GOOD, emit="trace"))  # type: ignore[arg-type]
    with pytest.raises(PluginError, match=r"grid_algorithms\(\) returned 7; return grid_core.plugins.Algorithm"):
        check_algorithm(7)  # type: ignore[arg-type]


def test_choices_name_what_they_require() -> None:
    ways = Choice("way", "a", {"a": "crba", "b": "minv"}, "Which.")
    chooser = replace(GOOD, name="either", emit=None, requires=("crba", "minv"), choice=ways)
    check_algorithm(chooser)
    for wrong in (
        replace(chooser, emit=GOOD.emit),
        replace(chooser, requires=("crba",)),
        replace(chooser, choice=replace(ways, default="c")),
    ):
        with pytest.raises(PluginError, match="a choice comes without emit, has its default"):
            check_algorithm(wrong)
    with pytest.raises(PluginError, match="needs 'wings'; options are contact_frames, cost_frames"):
        check_algorithm(replace(GOOD, needs=("wings",)))


def test_scans_name_what_they_require_and_their_inputs() -> None:
    scan = Scan("crba", ("a",), ("b",))
    inputs = (Input("a", ("nq",), "in"), Input("b", ("nv",), "in"), Input("m", ("nv", "nv"), "in"))
    walker = replace(GOOD, name="walk", emit=None, inputs=inputs, requires=("crba",), scan=scan)
    check_algorithm(walker)
    for wrong in (
        replace(walker, emit=GOOD.emit),
        replace(walker, requires=("crba", "minv")),
        replace(walker, scan=replace(scan, carried=("c",))),
        replace(walker, scan=replace(scan, along=())),
    ):
        with pytest.raises(PluginError, match="a scan comes without emit, names what the algorithm requires"):
            check_algorithm(wrong)
    for wrong in (
        replace(walker, scan=replace(scan, along=("m",))),
        replace(walker, scan=replace(scan, beside=("minv",)), requires=("crba", "minv")),
    ):
        with pytest.raises(PluginError, match="a scan has one output, and one per algorithm beside the step"):
            check_algorithm(wrong)


def test_reserved_words_are_words() -> None:
    assert {"int", "template", "co_await"} <= CPP_WORDS < RESERVED


def test_odd_names_that_pass_do_compile(pendulum: Model, cxx: CxxCompiler, tmp_path: Path) -> None:
    names = ["run", "grid", "std", "gm", "unit_", "loop", "kernel", "argument", "lane", "x1y", "t", "v"]

    def emit(k: Any) -> None:
        k.output("size_t", [sum((k.input(n)[0] for n in names), 0.0)])

    algorithm = Algorithm(
        "main", "toys", "A toy.", tuple(Input(n, ("1",), "in") for n in names), (Output("size_t", ("1",), "out"),), emit
    )
    check_algorithm(algorithm)
    unit = compile_algorithm(cxx, algorithm, tmp_path, model=pendulum)
    assert unit.functions["main"].num_inputs == len(names)
