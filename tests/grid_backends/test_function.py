"""The native callable: canonical calls, variants, and what it declines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from grid_backends.errors import UnitError
from grid_backends.numpy.signature import Signature
from grid_backends.numpy.units import open_unit
from grid_core.model import Model
from grid_core.plugins.algorithm import Algorithm, Output
from tests.grid_backends.toys import PAIR, TOY, declare, expected, make_record

NV, NQ = 8, 9


@pytest.fixture
def toy(native: ModuleType, model: Model, compile_unit: Callable[..., Path]) -> Any:
    return open_unit(compile_unit(), make_record(model).signatures["toy"])


@pytest.fixture
def pair(native: ModuleType, model: Model, compile_unit: Callable[..., Path]) -> Any:
    return open_unit(compile_unit(TWO_OUTPUTS=1), make_record(model).signatures["pair_of_toys"])


def call(function: Any, q: Any, qd: Any, qdd: Any = None, gravity: Any = None, f_ext: Any = None, **more: Any) -> Any:
    arguments = (q, qd, qdd, gravity, f_ext, more.get("probe"))
    return function(arguments, more.get("out"), more.get("threads", 1))


@pytest.mark.parametrize("batch", [(), (0,), (1,), (3,), (4,), (17,)])
def test_evaluates_a_batch_or_one_sample(toy: Any, rng: np.random.Generator, batch: tuple[int, ...]) -> None:
    q, qd = rng.normal(size=(*batch, NQ)), rng.normal(size=(*batch, NV))
    tau = call(toy, q, qd)
    assert tau.shape == (*batch, NV)
    assert tau.dtype == np.float64
    np.testing.assert_allclose(tau, expected(q, qd))


def test_shares_arrays_without_batch(toy: Any, rng: np.random.Generator) -> None:
    q, qd, gravity = rng.normal(size=NQ), rng.normal(size=(5, NV)), rng.normal(size=(5, 3))
    np.testing.assert_allclose(call(toy, q, qd, gravity=gravity), expected(q, qd, gravity=gravity[:, 2:]))


def test_takes_rows_that_are_apart_or_repeated(toy: Any, rng: np.random.Generator) -> None:
    wide = rng.normal(size=(10, NQ + NV))
    q, qd = wide[::2, :NQ], wide[::2, NQ:]
    np.testing.assert_allclose(call(toy, q, qd), expected(q, qd))
    repeated = np.broadcast_to(q[0], (5, NQ))
    np.testing.assert_allclose(call(toy, repeated, qd), expected(q[0], qd))


def test_picks_the_cheapest_variant(toy: Any) -> None:
    q, qd = np.zeros(NQ), np.zeros(NV)
    assert call(toy, q, qd, gravity=0.0, probe=1.0)[0] == 1.0
    assert call(toy, q, qd, qdd=qd, gravity=0.0, probe=1.0)[0] == 2.0


def test_missing_inputs_read_as_zeros_and_standard_values_apply(toy: Any, rng: np.random.Generator) -> None:
    q, qd, f_ext = rng.normal(size=(2, NQ)), rng.normal(size=(2, NV)), rng.normal(size=(2, 18))
    np.testing.assert_allclose(call(toy, q, qd, f_ext=f_ext), expected(q, qd, f_ext=f_ext))
    np.testing.assert_allclose(call(toy, q, qd, gravity=2.5), expected(q, qd, gravity=2.5))
    np.testing.assert_allclose(call(toy, q, qd, gravity=None), expected(q, qd))


@pytest.mark.parametrize(("scalar", "dtype", "other"), [("double", "f8", "f4"), ("float", "f4", "f8")])
def test_converts_the_other_float_type(
    native: ModuleType, model: Model, compile_unit: Callable[..., Path], scalar: str, dtype: str, other: str
) -> None:
    signature = make_record(model, np.dtype(dtype).name).signatures["toy"]
    function = open_unit(compile_unit(scalar), signature)
    q, qd = np.arange(3.0 * NQ).reshape(3, NQ), np.arange(NV, dtype=other)
    result = call(function, q.astype(other)[::2], qd)
    assert result.dtype == dtype
    np.testing.assert_allclose(result, expected(q[::2], qd), rtol=1e-6)
    assert call(function, np.empty((0, NQ), other), qd).shape == (0, NV)


@pytest.mark.parametrize(
    "q",
    [
        [0.0] * NQ,
        np.zeros(NQ, int),
        np.zeros(NQ, ">f8"),
        np.zeros(NQ + 1),
        np.zeros((2, 2, NQ)),
        np.zeros((2, 2 * NQ))[:, ::2],
        np.zeros((2, NQ))[::-1],
        np.zeros((2, NQ))[:, ::-1],
        np.frombuffer(bytes(8 * NQ + 1), "f8", NQ, 1),
        np.ma.zeros(NQ),
        np.zeros((3, NQ)),
        1.0,
        None,
    ],
    ids=str,
)
def test_declines_what_is_not_canonical(toy: Any, q: Any) -> None:
    assert call(toy, q, np.zeros((2, NV))) is NotImplemented


def test_writes_into_out(toy: Any, rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=(5, NQ)), rng.normal(size=(5, NV))
    buffer = np.full((5, NV + 2), np.nan)
    out = buffer[:, :NV]
    assert call(toy, q, qd, out=out) is out
    np.testing.assert_allclose(out, expected(q, qd))
    assert np.isnan(buffer[:, NV:]).all()


@pytest.mark.parametrize(
    "out",
    [
        np.empty((2, NV), "f4"),
        np.empty((3, NV)),
        np.empty(NV),
        np.empty((2, NV))[::-1],
        np.broadcast_to(np.empty(NV), (2, NV)),
        np.empty((2, 2 * NV))[:, ::2],
        np.lib.stride_tricks.as_strided(np.empty(2 * NV), (2, NV), (8, 8)),
        (np.empty((2, NV)), np.empty((2, NV))),
        "buffer",
    ],
    ids=["dtype", "batch", "one sample", "reversed", "broadcast", "strided", "overlapping", "tuple", "no array"],
)
def test_declines_an_unfit_out(toy: Any, out: Any) -> None:
    assert call(toy, np.zeros((2, NQ)), np.zeros((2, NV)), out=out) is NotImplemented


def test_declines_an_out_that_overlaps_an_input(toy: Any) -> None:
    memory = np.zeros(4 * NV)
    qd, out = memory[: 2 * NV].reshape(2, NV), memory[NV : 3 * NV].reshape(2, NV)
    assert call(toy, np.zeros((2, NQ)), qd, out=out) is NotImplemented
    apart = memory[2 * NV :].reshape(2, NV)
    assert call(toy, np.zeros((2, NQ)), qd, out=apart) is apart


def test_several_outputs_are_a_named_tuple(pair: Any, rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=(3, NQ)), rng.normal(size=(3, NV))
    result = call(pair, q, qd)
    assert type(result).__name__ == "PairOfToys"
    np.testing.assert_allclose(result.tau, expected(q, qd))
    np.testing.assert_allclose(result.outer, qd[:, :, None] * np.arange(1, NV + 1))
    again = call(pair, 2.0 * q, qd, out=result)
    assert (again.tau is result.tau, again.outer is result.outer) == (True, True), "a result is memory for the next one"


def test_several_outputs_may_lie_side_by_side_but_not_overlap(pair: Any, rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=(3, NQ)), rng.normal(size=(3, NV))
    size = NV + NV * NV
    memory = np.empty((3, size))
    out = (memory[:, :NV], memory[:, NV:].reshape(3, NV, NV))
    assert call(pair, q, qd, out=out).outer is out[1]
    np.testing.assert_array_equal(memory[:, :NV], call(pair, q, qd).tau)
    overlapping = (memory[:, 1 : NV + 1], memory[:, NV:].reshape(3, NV, NV))
    assert call(pair, q, qd, out=overlapping) is NotImplemented


@pytest.mark.parametrize("arguments", [((),), (None,), ([0.0],), ((1.0,) * 7,)])
def test_declines_a_wrong_number_of_arguments(toy: Any, arguments: Any) -> None:
    assert toy(*arguments) is NotImplemented


def test_calls_are_positional(toy: Any, native: ModuleType) -> None:
    with pytest.raises(TypeError, match="all positional"):
        toy(arguments=())
    with pytest.raises(TypeError):
        toy((), None, "many")
    with pytest.raises(TypeError):
        native.Function.__new__(native.Function)(())


def test_describes_a_unit(native: ModuleType, compile_unit: Callable[..., Path]) -> None:
    unit = native.Unit(str(compile_unit("float")))
    assert (unit.algorithm, unit.scalar_bytes, unit.lanes) == ("toy", 4, 4)
    assert [f["name"] for f in unit.functions] == ["with_qdd", "without_qdd"]
    assert unit.functions[1]["inputs"] == {"q": NQ, "qd": NV, "gravity": 3, "f_ext": 18, "probe": 1}
    assert unit.functions[0]["outputs"] == {"tau": NV}


def test_refuses_another_interface_version(native: ModuleType, compile_unit: Callable[..., Path]) -> None:
    with pytest.raises(UnitError, match=r"expected ABI 2, found 99; rebuild"):
        native.Unit(str(compile_unit(ABI=99)))


def test_refuses_another_dtype(native: ModuleType, compile_unit: Callable[..., Path]) -> None:
    with pytest.raises(UnitError, match="expected float64, found float32"):
        native.Unit(str(compile_unit("float")), 8)


def test_refuses_what_is_no_unit(native: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(UnitError, match=r"missing\.so' cannot be opened"):
        native.Unit(str(tmp_path / "missing.so"))
    runner = native.Function.__module__
    with pytest.raises(UnitError, match="no symbol grid_unit_table"):
        native.Unit(sys.modules[runner].__file__)


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        (PAIR, "expected 2 outputs, found 1"),
        (declare("toy", TOY.outputs, TOY.inputs[:-1]), "input 'probe' is not declared"),
        (declare("toy", PAIR.outputs[1:]), "expected output 'outer' of 64 scalars per sample, found 'tau' of 8"),
    ],
)
def test_compares_a_unit_with_its_declaration(
    native: ModuleType, model: Model, compile_unit: Callable[..., Path], algorithm: Algorithm, message: str
) -> None:
    with pytest.raises(UnitError, match=message):
        open_unit(compile_unit(), Signature(algorithm, model.dims, np.dtype("f8")))


def test_refuses_a_unit_of_another_size(native: ModuleType, model: Model, compile_unit: Callable[..., Path]) -> None:
    declared = declare("toy", (Output("tau", ("7",), ""),))
    with pytest.raises(UnitError, match="input 'qd': expected 8 scalars per sample, found 7"):
        open_unit(compile_unit(NV=7), Signature(declared, model.dims, np.dtype("f8")))


def test_matches_inputs_by_name(
    native: ModuleType, model: Model, compile_unit: Callable[..., Path], rng: np.random.Generator
) -> None:
    declared = declare("toy", TOY.outputs, (*TOY.inputs[1::-1], *TOY.inputs[2:]))
    function: Any = open_unit(compile_unit(), Signature(declared, model.dims, np.dtype("f8")))
    q, qd = rng.normal(size=NQ), rng.normal(size=NV)
    np.testing.assert_allclose(function((qd, q, None, None, None, None)), expected(q, qd))
