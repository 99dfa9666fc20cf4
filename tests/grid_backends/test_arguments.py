"""What methods accept and how they refuse the rest, on compiled units and on the reference device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grid_backends.numpy import RobotHandle
from grid_core.errors import ArgumentError
from tests.grid_backends.toys import expected

NV, NQ = 8, 9


@pytest.mark.parametrize("batch", [(), (0,), (1,), (7,), (2, 3), (2, 0, 3), (1, 1, 1)])
def test_any_leading_batch_axes(handle: RobotHandle, rng: np.random.Generator, batch: tuple[int, ...]) -> None:
    q, qd, qdd = (rng.normal(size=(*batch, n)) for n in (NQ, NV, NV))
    tau = handle.toy(q, qd, qdd)
    assert tau.shape == (*batch, NV)
    np.testing.assert_allclose(tau, expected(q, qd, qdd))


def test_arrays_without_batch_are_shared(handle: RobotHandle, rng: np.random.Generator) -> None:
    q, qd, f_ext = rng.normal(size=NQ), rng.normal(size=(2, 3, NV)), rng.normal(size=18)
    np.testing.assert_allclose(handle.toy(q, qd, f_ext=f_ext), expected(q, qd, f_ext=f_ext))


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i8", "f2", "f4", "f8", ">f8", "g"])
def test_real_dtypes_are_cast(handle: RobotHandle, dtype: str) -> None:
    q = np.arange(NQ) % 2
    np.testing.assert_array_equal(handle.toy(q.astype(dtype), np.zeros(NV)), expected(q, np.zeros(NV)))


@pytest.mark.parametrize(("build", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
def test_results_have_the_dtype_of_the_build(
    make_handle: Callable[..., RobotHandle], rng: np.random.Generator, build: str, tolerance: float
) -> None:
    q, qd = rng.normal(size=(4, NQ)), rng.normal(size=(4, NV))
    result = make_handle(build).pair_of_toys(q, qd.tolist())
    assert result.tau.dtype == result.outer.dtype == build
    np.testing.assert_allclose(result.tau, expected(q, qd), rtol=tolerance, atol=tolerance)


def layouts(array: np.ndarray) -> dict[str, np.ndarray]:
    """The same values in memory of every awkward kind."""
    raw = bytearray(array.nbytes + 1)
    misaligned = np.frombuffer(raw, array.dtype, array.size, 1).reshape(array.shape)
    misaligned[...] = array
    read_only = array.copy()
    read_only.setflags(write=False)
    spread = np.zeros((*array.shape, 3))
    spread[..., 1] = array
    return {
        "fortran": np.asfortranarray(array),
        "reversed": array[::-1, ::-1].copy()[::-1, ::-1],
        "misaligned": misaligned,
        "read-only": read_only,
        "spread": spread[..., 1],
        "list": array.tolist(),
        "matrix": array.view(type("Sub", (np.ndarray,), {})),
    }


@pytest.mark.parametrize("layout", ["fortran", "reversed", "misaligned", "read-only", "spread", "list", "matrix"])
def test_any_memory_layout(handle: RobotHandle, rng: np.random.Generator, layout: str) -> None:
    q, qd = rng.normal(size=(5, NQ)), rng.normal(size=(5, NV))
    result = handle.toy(layouts(q)[layout], layouts(qd)[layout])
    assert type(result) is np.ndarray
    np.testing.assert_allclose(result, expected(q, qd))


@pytest.mark.parametrize("number", [-3.5, np.float32(-3.5), np.float64(-3.5), np.array(-3.5)])
def test_gravity_is_a_number(handle: RobotHandle, number: Any) -> None:
    zeros = np.zeros(NQ), np.zeros((2, NV))
    np.testing.assert_array_equal(handle.toy(*zeros, gravity=number), expected(*zeros, gravity=-3.5))
    np.testing.assert_array_equal(handle.toy(*zeros, gravity=0), expected(*zeros, gravity=0))
    np.testing.assert_array_equal(handle.toy(*zeros, gravity=None), expected(*zeros, gravity=-9.81))


def test_gravity_is_a_vector_or_one_per_sample(handle: RobotHandle, rng: np.random.Generator) -> None:
    zeros, gravity = (np.zeros(NQ), np.zeros((2, 2, NV))), rng.normal(size=(2, 2, 3))
    np.testing.assert_array_equal(handle.toy(*zeros, gravity=gravity), expected(*zeros, gravity=gravity[..., 2:]))
    np.testing.assert_array_equal(handle.toy(*zeros, gravity=[1, 2, 3]), expected(*zeros, gravity=3))


def test_single_slots_take_numbers(handle: RobotHandle) -> None:
    zeros = np.zeros(NQ), np.zeros(NV)
    np.testing.assert_array_equal(handle.toy(*zeros, gravity=0, probe=2), 2)
    np.testing.assert_array_equal(handle.toy(*zeros, zeros[1], gravity=0, probe=np.array([1.0, 2.0])).T[0], [2, 4])


def test_not_a_number_passes_through(handle: RobotHandle) -> None:
    assert np.isnan(handle.toy(np.full(NQ, np.nan), np.zeros(NV))).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"q": None}, r"toy: argument 'q' is required and was not given, expected shape \(..., nq\) = \(..., 9\)"),
        ({"qd": np.zeros(5)}, r"argument 'qd' has shape \(5,\), expected shape \(..., nv\) = \(..., 8\)$"),
        ({"qd": np.zeros((3, 9))}, r"nv = 8 wide, only configurations have nq = 9"),
        ({"q": np.zeros((3, 8))}, r"Configurations are nq = 9 wide"),
        ({"q": 1.0}, r"argument 'q' has shape \(\)"),
        ({"f_ext": np.zeros((3, 6))}, r"expected shape \(..., 6\*nb\) = \(..., 18\)"),
        ({"q": np.zeros(9, complex)}, r"'q' has dtype complex128, expected float64 or another real dtype"),
        ({"q": np.zeros(9, object)}, "has dtype object"),
        ({"q": ["a"] * 9}, "has dtype <U1"),
        ({"q": np.zeros(9, "M8[s]")}, "has dtype datetime64"),
        ({"q": [[0.0], [0.0, 1.0]]}, "a list cannot be read as an array"),
        ({"gravity": np.zeros(2)}, r"argument 'gravity' has shape \(2,\), expected shape \(..., 3\)$"),
        ({"q": np.ma.array(np.zeros(9), mask=[1, 1] + [0] * 7)}, r"'q' has 2 masked entries.*pass value.filled\("),
        ({"q": np.zeros((4, 9)), "qd": np.zeros((5, 8))}, r"'qd' has batch shape \(5,\), expected \(4,\) as for 'q'"),
        ({"q": np.zeros((1, 9)), "qd": np.zeros((5, 8))}, "batch axes are equal in all arguments, or absent"),
        ({"q": np.zeros((2, 3, 9)), "qd": np.zeros((6, 8))}, r"batch shape \(6,\), expected \(2, 3\)"),
    ],
)
def test_errors_name_argument_expected_and_got(handle: RobotHandle, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        handle.toy(**{"q": np.zeros(NQ), "qd": np.zeros(NV), **arguments})


def test_masks_that_hide_nothing_do_not_matter(handle: RobotHandle) -> None:
    q, qd = np.ones(NQ), np.ones(NV)
    np.testing.assert_array_equal(handle.toy(np.ma.array(q), qd), handle.toy(q, qd))


def test_arrays_that_refuse_conversion_are_named(handle: RobotHandle) -> None:
    class Remote:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise TypeError("lives on a GPU")

    with pytest.raises(ArgumentError, match=r"argument 'q': a Remote cannot be read as an array \(lives on a GPU\)"):
        handle.toy(Remote(), np.zeros(NV))
