"""What an emitter may do, and the errors for what it may not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grid_core.errors import TraceError
from grid_core.kernel import Kernel, KernelBuilder, evaluate, trace_algorithm
from grid_core.kernel.builder import variants
from grid_core.model import Model
from grid_core.plugins.algorithm import Absent, Algorithm, Input, Output
from grid_core.trace import Scalar, select, sin
from grid_core.trace.functions import less
from tests.grid_core.units import toy


def traced(model: Model, *algorithms: Algorithm, absent: frozenset[str] = frozenset()) -> Kernel:
    """Trace the first of the algorithms; the others may be called."""
    return trace_algorithm(algorithms[0], model, {a.name: a for a in algorithms}, absent=absent)


def double(k: KernelBuilder) -> None:
    k.output("y", [2.0 * x for x in k.input("x")])


DOUBLE = toy("double", {"x": "nv"}, {"y": "nv"}, double)


def caller(emit: Any, requires: tuple[str, ...] = ("double",)) -> Algorithm:
    return toy("caller", {"x": "nv"}, {"y": "nv"}, emit, requires=requires)


def test_shapes_nest_as_declared(pendulum: Model) -> None:
    seen = {}

    def emit(k: KernelBuilder) -> None:
        seen.update(m=k.input("m"), v=k.input("v"))
        k.output("y", [[x * k.input("v")[0] for x in row] for row in k.input("m")])

    kernel = traced(pendulum, toy("nest", {"m": ("nv", "3*nv"), "v": "nq"}, {"y": ("nv", "6")}, emit))
    assert [len(row) for row in seen["m"]] == [6, 6]
    assert repr(seen["m"][1][2]) == "m[8]"
    assert [(a.name, a.size, a.shape) for a in kernel.inputs] == [("m", 12, (2, 6)), ("v", 2, (2,))]
    m, v = np.arange(24.0).reshape(2, 12), np.array([[2.0, 0.0], [3.0, 0.0]])
    np.testing.assert_array_equal(evaluate(kernel, {"m": m, "v": v})["y"], m * v[:, :1])


def test_numbers_and_inputs_may_be_outputs(pendulum: Model) -> None:
    kernel = traced(pendulum, toy("pass", {"x": "nv"}, {"y": "3"}, lambda k: k.output("y", [1, *k.input("x")])))
    np.testing.assert_array_equal(evaluate(kernel, {"x": np.array([[5.0, 6.0]])})["y"], [[1.0, 5.0, 6.0]])
    assert kernel.operations() == {}


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0, 3.0],
        [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        [[1.0, 2.0, 3.0], [4.0]],
        [[[1.0, 2.0], [3.0, 4.0]]],
        5.0,
        {"a": 1.0, "b": 2.0},
    ],
)
def test_outputs_of_another_shape(pendulum: Model, values: Any) -> None:
    algorithm = toy("bad", {"x": "nv"}, {"y": ("nv", "nv")}, lambda k: k.output("y", values))
    with pytest.raises(
        TraceError, match=r"bad: output 'y' has lengths \(.*\), expected nested sequences of shape \(2,"
    ):
        traced(pendulum, algorithm)


def test_a_comparison_is_no_output(pendulum: Model) -> None:
    algorithm = toy("bad", {"x": "nv"}, {"y": "1"}, lambda k: k.output("y", [less(*k.input("x"))]))
    with pytest.raises(TraceError, match="bad: output 'y' is a comparison"):
        traced(pendulum, algorithm)


def test_unknown_and_missing_outputs_and_inputs(pendulum: Model) -> None:
    def algorithm(emit: Any) -> Algorithm:
        return toy("bad", {"torque": "nv"}, {"accel": "nv"}, emit)

    with pytest.raises(TraceError, match="bad declares no output 'acel'; did you mean 'accel'"):
        traced(pendulum, algorithm(lambda k: k.output("acel", [0.0, 0.0])))
    with pytest.raises(TraceError, match=r"without setting output 'accel'; call k.output\('accel', ...\)"):
        traced(pendulum, algorithm(lambda k: None))
    with pytest.raises(TraceError, match="declares no input 'torques'; did you mean 'torque'"):
        traced(pendulum, algorithm(lambda k: k.input("torques")))
    with pytest.raises(TraceError, match="declares no input 'force'"):
        traced(pendulum, algorithm(lambda k: k.has("force")))


def test_calls_are_inlined_and_traced_once(pendulum: Model) -> None:
    count = []

    def counting(k: KernelBuilder) -> None:
        count.append(1)
        k.output("y", [sin(x) for x in k.input("x")])

    def emit(k: KernelBuilder) -> None:
        x = k.input("x")
        first, again = k.call("counted", x=x), k.call("counted", x=list(x))
        other = k.call("counted", x=[x[1], x[0]])
        k.output("y", [a + b + c for a, b, c in zip(first, again, other)])

    kernel = traced(pendulum, caller(emit, ("counted",)), toy("counted", {"x": "nv"}, {"y": "nv"}, counting))
    assert len(count) == 2, "equal arguments are traced once, others again"
    assert kernel.operations()["sin"] == 2
    x = np.array([[0.3, 0.4]])
    np.testing.assert_allclose(evaluate(kernel, {"x": x})["y"], 2 * np.sin(x) + np.sin(x[:, ::-1]), rtol=1e-15)


def test_constant_arguments_of_a_call_fold(pendulum: Model) -> None:
    kernel = traced(pendulum, caller(lambda k: k.output("y", k.call("double", x=[1.0, 2.0]))), DOUBLE)
    assert kernel.nodes() == []
    np.testing.assert_array_equal(evaluate(kernel, {"x": np.zeros((1, 2))})["y"], [[2.0, 4.0]])


def test_several_results_of_a_call_come_by_name(pendulum: Model) -> None:
    pair = toy(
        "pair", {"x": "nv"}, {"a": "nv", "b": "nv"}, lambda k: (k.output("a", k.input("x")), k.output("b", [1, 2]))
    )

    def emit(k: KernelBuilder) -> None:
        results = k.call("pair", x=k.input("x"))
        assert list(results) == ["a", "b"]
        k.output("y", [a * b for a, b in zip(results["a"], results["b"])])

    kernel = traced(pendulum, caller(emit, ("pair",)), pair)
    np.testing.assert_array_equal(evaluate(kernel, {"x": np.array([[5.0, 6.0]])})["y"], [[5.0, 12.0]])


def test_calls_that_are_refused(pendulum: Model) -> None:
    def call(**arguments: Any) -> Any:
        return caller(lambda k: k.output("y", k.call("double", **arguments)))

    undeclared = caller(lambda k: k.call("double", x=k.input("x")), requires=())
    with pytest.raises(TraceError, match="caller calls 'double' without declaring it; add 'double' to requires"):
        traced(pendulum, undeclared, DOUBLE)
    with pytest.raises(TraceError, match="requires 'doubel', which no plugin provides; did you mean 'double'"):
        traced(pendulum, caller(lambda k: k.call("doubel"), ("doubel",)), DOUBLE)
    with pytest.raises(TraceError, match=r"double has no input 'z'; it takes \['x'\]"):
        traced(pendulum, call(z=[0.0, 0.0], x=[0.0, 0.0]), DOUBLE)
    with pytest.raises(TraceError, match=r"double is called without its input 'x'; pass x="):
        traced(pendulum, call(), DOUBLE)
    with pytest.raises(TraceError, match=r"double: input 'x' has lengths \(3,\), expected .* shape \(2,\)"):
        traced(pendulum, call(x=[0.0, 0.0, 0.0]), DOUBLE)


def test_circles_are_printed(pendulum: Model) -> None:
    def calls(name: str, other: str) -> Algorithm:
        emit = lambda k: k.output("y", k.call(other, x=k.input("x")))  # noqa: E731
        return toy(name, {"x": "nv"}, {"y": "nv"}, emit, requires=(other,))

    with pytest.raises(TraceError, match="in a circle: a -> b -> a"):
        traced(pendulum, calls("a", "b"), calls("b", "a"))
    shrinking = toy(
        "s", {"x": "nv"}, {"y": "nv"}, lambda k: k.output("y", k.call("s", x=[2.0 * x for x in k.input("x")])),
        requires=("s",),
    )  # fmt: skip
    with pytest.raises(TraceError, match="in a circle: s -> s"):
        traced(pendulum, shrinking)


def optional(k: KernelBuilder) -> None:
    with_f = k.has("f")
    k.output("y", [a + b + (c if with_f else 0.0) for a, b, c in zip(k.input("x"), k.input("z"), k.input("f"))])


OPTIONAL = toy(
    "optional", {"x": "nv", "z": "nv", "f": "nv"}, {"y": "nv"}, optional,
    absent={"z": Absent.ZERO, "f": Absent.VARIANT},
)  # fmt: skip


def test_variants_are_traced_without_what_is_absent(pendulum: Model) -> None:
    assert variants(OPTIONAL) == [frozenset(), frozenset({"f"})]
    full, lean = (traced(pendulum, OPTIONAL, absent=a) for a in variants(OPTIONAL))
    assert (full.name, [i.name for i in full.inputs]) == ("optional", ["x", "z", "f"])
    assert (lean.name, [i.name for i in lean.inputs]) == ("optional_without_f", ["x", "z"])
    assert (full.operations(), lean.operations()) == ({"add": 4}, {"add": 2})
    x, f = np.array([[1.0, 2.0]]), np.array([[10.0, 20.0]])
    np.testing.assert_array_equal(evaluate(full, {"x": x, "f": f})["y"], [[11.0, 22.0]])
    np.testing.assert_array_equal(evaluate(lean, {"x": x, "z": f})["y"], [[11.0, 22.0]])


def test_two_variant_inputs_make_four_kernels() -> None:
    both = toy("b", {"f": "1", "g": "1"}, {"y": "1"}, None, absent={"f": Absent.VARIANT, "g": Absent.VARIANT})
    assert variants(both) == [set(), {"f"}, {"g"}, {"f", "g"}]


def test_a_call_may_leave_optional_inputs_out(pendulum: Model) -> None:
    algorithm = caller(lambda k: k.output("y", k.call("optional", x=k.input("x"))), ("optional",))
    kernel = traced(pendulum, algorithm, OPTIONAL)
    assert kernel.operations() == {}, "what is absent folds away"


def test_sections_label_nodes(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        x = k.input("x")
        with k.section("forward"):
            common = sin(x[0])
        with k.section("columns"):
            y = []
            for i in range(2):
                with k.section(f"column {i}"):
                    y.append(common * x[i] + float(i + 1))
        k.output("y", y)
        seen.update(common=common, y=y)

    seen: dict[str, Any] = {}
    kernel = traced(pendulum, toy("staged", {"x": "nv"}, {"y": "nv"}, emit))
    sections = [seen["common"].section, *(y.section for y in seen["y"])]
    assert sections == ["forward", "columns: column 0", "columns: column 1"]
    x = np.array([[0.5, 2.0]])
    np.testing.assert_allclose(evaluate(kernel, {"x": x})["y"], np.sin(0.5) * x + [[1.0, 2.0]], rtol=1e-15)


def test_operations_count_live_work_only(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        a, b = k.input("x")
        sin(a) * sin(b)  # dead
        k.output("y", [a * b + a, select(less(a, b), a * b, 0.0)])

    kernel = traced(pendulum, toy("counted", {"x": "nv"}, {"y": "nv"}, emit))
    assert kernel.operations() == {"mul": 1, "add": 1, "lt": 1, "select": 1}


def test_the_model_is_at_hand(pendulum: Model) -> None:
    def emit(k: KernelBuilder) -> None:
        assert k.model is pendulum
        assert k.tree is k.tree
        assert not k.settings.joint_dynamics
        assert not isinstance(k.tree.inertias[0].mass, Scalar)
        k.output("y", [float(k.model.bodies[0].mass)])

    kernel = traced(pendulum, toy("mass", {"x": "nv"}, {"y": "1"}, emit))
    assert evaluate(kernel, {})["y"].shape == (1, 1), "no input, one sample"


def test_a_call_means_what_it_means_in_python(pendulum: Model) -> None:
    """A number with a slot stands for a vector, as ``gravity=-9.81`` does."""
    callee = Algorithm(
        "pull",
        "test",
        "",
        inputs=(Input("gravity", ("3",), "", default=-9.81, scalar_slot=2),),
        outputs=(Output("y", ("3",), ""),),
        emit=lambda k: k.output("y", k.input("gravity")),
    )
    kernel = traced(pendulum, caller(lambda k: k.output("y", k.call("pull")[1:]), ("pull",)), callee)
    assert evaluate(kernel, {})["y"].tolist() == [[0.0, -9.81]]
