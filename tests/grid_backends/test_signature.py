"""Python signatures, documentation and result types that follow from declarations."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

from grid_backends.numpy import RobotHandle
from grid_backends.numpy.docstring import docstring
from grid_backends.numpy.results import result_type
from grid_backends.numpy.signature import Signature
from grid_core.errors import PluginError
from grid_core.plugins.algorithm import Absent, Input
from tests.grid_backends.toys import INPUTS, PAIR, TAU, TOY, declare

DIMS = {"nq": 9, "nv": 8, "nb": 3}


def bound(algorithm: Any) -> Signature:
    return Signature(algorithm, DIMS, np.dtype("f4"))


def test_shapes_are_numbers() -> None:
    signature = bound(PAIR)
    assert {i.name: i.shape for i in signature.inputs}["f_ext"] == (18,)
    assert [(o.name, o.shape, o.size) for o in signature.outputs] == [("tau", (8,), 8), ("outer", (8, 8), 64)]
    assert (signature.outputs[1].symbols, str(signature.outputs[1])) == ("(..., nv, nv)", "(..., 8, 8)")


def test_parameters_follow_the_declaration(handle: RobotHandle) -> None:
    text = "(q, qd, qdd=None, *, gravity=-9.81, f_ext=None, probe=None, out=None"
    own = ", stream=None" if handle.device == "cuda" else ""
    assert str(inspect.signature(handle.toy)) == f"{text}{own})"
    assert handle.toy.__name__ == "toy"
    assert handle.toy.__qualname__ == f"{type(handle).__name__}.toy"
    with pytest.raises(TypeError, match="positional"):
        handle.toy(1, 2, 3, 4)


def test_infinite_defaults_are_possible() -> None:
    """A number that is a default of vectors is documented; in the signature it could be taken for what is accepted."""
    limit, least = (
        Input("limit", ("nv",), "A bound", default=float("inf")),
        Input("least", (), "Another", default=-np.inf),
    )
    signature = bound(declare("bounded", (TAU,), (limit, least)))
    assert signature.parameters() == "self, limit=None, least=-inf, *"
    assert "A bound. Default inf." in docstring(signature)


def test_documentation_follows_the_declaration() -> None:
    text = docstring(bound(TOY))
    assert text.startswith("The toy algorithm.\n\nParameters\n----------\nq : array_like, shape (..., nq) = (..., 9)\n")
    assert "qdd : array_like, shape (..., nv) = (..., 8), optional\n    Acceleration. Zero if left out. Leaving" in text
    assert "gravity : array_like or float, shape (..., 3), optional\n" in text
    assert "Default -9.81 in component 2, zero elsewhere." in text
    assert "Returns\n-------\ntau : ndarray, shape (..., nv) = (..., 8), float32\n    Torque, N m or N.\n" in text
    assert text.endswith("Notes\n-----\nFor tests only.\n\nReferences\n----------\nMade up.\n")


def test_several_results_are_a_named_tuple_that_can_be_pickled() -> None:
    kind: Any = bound(PAIR).result
    result = kind(np.zeros(2), np.ones(2))
    assert kind is result_type("PairOfToys", ("tau", "outer"))
    assert isinstance(result, tuple)
    again: Any = pickle.loads(pickle.dumps(result))
    assert isinstance(again, kind)
    np.testing.assert_array_equal(again.outer, np.ones(2))
    assert bound(TOY).result is None


def plain(name: str, **more: Any) -> Input:
    return Input(name, ("nv",), "", **more)


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        (declare("two words", (TAU,)), "'two words' of family 'tests': its name is no Python name"),
        (declare("toy", (TAU,), (plain("lambda"),)), "input 'lambda' is reserved, repeated or no Python name"),
        (declare("toy", (TAU,), (plain("out"),)), "input 'out' is reserved"),
        (declare("toy", (TAU,), (plain("a"), plain("a"))), "input 'a' is reserved, repeated"),
        (declare("toy", (TAU,), (plain("a", absent=Absent.ZERO), plain("b"))), "'b' is required but follows 'a'"),
        (declare("toy", ()), "it has no output"),
    ],
)
def test_impossible_declarations_are_refused(algorithm: Any, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        bound(algorithm)


def test_required_keyword_may_follow_optional_inputs() -> None:
    signature = bound(declare("toy", (TAU,), (INPUTS[2], plain("b", keyword_only=True))))
    assert signature.parameters() == "self, qdd=None, *, b"
