"""The functions of namespace gm against mpmath, for packs and scalars, float and double."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from .conftest import SANITIZERS, Build, run

Array = NDArray[np.floating[Any]]
TYPES: dict[str, type[np.floating[Any]]] = {"double": np.float64, "float": np.float32}
LONGEST_PACK = 16
INF, NAN = math.inf, math.nan
REFERENCES: dict[str, Callable[[mpmath.mpf], mpmath.mpf]] = {
    "sincos.sin": mpmath.sin,
    "sincos.cos": mpmath.cos,
    "exp": mpmath.exp,
    "log": mpmath.log,
    "tanh": mpmath.tanh,
    "sqrt": mpmath.sqrt,
}
BOUNDS = {"sincos.sin": 2.0, "sincos.cos": 2.0, "exp": 4.0, "log": 4.0, "tanh": 4.0, "sqrt": 0.5}


def call(driver: Path, name: str, scalar: str, values: Array, *mode: str) -> Array:
    """``name`` of every value; they are padded with ones to whole packs."""
    padded = np.ones(-(-len(values) // LONGEST_PACK) * LONGEST_PACK, TYPES[scalar])
    padded[: len(values)] = values
    return np.frombuffer(run(driver, name, scalar, *mode, stdin=padded.tobytes()), TYPES[scalar])[: len(values)]


@cache
def samples(name: str, scalar: str) -> Array:
    """Finite arguments: ordinary, tiny, subnormal, huge, and next to where the function is delicate."""
    rng = np.random.default_rng(7)
    info = np.finfo(TYPES[scalar])
    with np.errstate(over="ignore"):
        tiny = [float(info.smallest_subnormal), float(info.tiny), 0.3 * float(info.tiny), 1e-30, 1e-10, 1e-4]
        parts = [rng.uniform(-8, 8, 400), 10 ** rng.uniform(-12, 2, 300), rng.uniform(-110, 100, 200), np.array(tiny)]
        if name.startswith("sincos"):
            multiples = np.concatenate([np.arange(1, 60), rng.integers(1, 2**20, 200), rng.integers(1, 2**30, 100)])
            centres = (multiples * (math.pi / 2)).astype(TYPES[scalar])
            parts += [centres, np.nextafter(centres, TYPES[scalar](INF)), np.nextafter(centres, TYPES[scalar](0))]
            parts += [10 ** rng.uniform(2, 300 if scalar == "double" else 38, 200)]
            parts += [np.array([1e4, 1e6, 1e15, 1e30, 2.0**12, 2.0**16, 2.0**20, 2.0**30, float(info.max)])]
        if name == "exp":
            parts += [rng.uniform(-746, 710, 300)]
        drawn = np.concatenate(parts).astype(TYPES[scalar])
    values: Array = np.abs(drawn[drawn != 0]) if name in {"log", "sqrt"} else np.concatenate([drawn, -drawn])
    return values


@cache
def expected(name: str, scalar: str) -> list[mpmath.mpf]:
    """The exact values to far more digits than either type has."""
    with mpmath.workdps(400 if name.startswith("sincos") and scalar == "double" else 60):
        return [REFERENCES[name](mpmath.mpf(float(x))) for x in samples(name, scalar)]


def ulps(value: float, exact: mpmath.mpf, info: np.finfo[Any]) -> float:
    """Distance in units in the last place of the exact value; overflow must be infinite."""
    if abs(exact) >= mpmath.mpf(float(info.max)) * (1 + mpmath.mpf(2) ** (-info.nmant - 2)):
        return 0.0 if value == math.copysign(INF, exact) else INF
    exponent = max(mpmath.frexp(exact)[1] - info.nmant - 1, info.minexp - info.nmant) if exact else info.minexp
    return float(abs(mpmath.mpf(float(value)) - exact) / mpmath.mpf(2) ** exponent)


@pytest.mark.parametrize("scalar", TYPES)
@pytest.mark.parametrize("name", REFERENCES)
def test_error(build: tuple[str, str], compile_driver: Build, name: str, scalar: str) -> None:
    values = samples(name, scalar)
    got = call(compile_driver("math_driver.cpp", *build), name, scalar, values)
    errors = [ulps(g, e, np.finfo(TYPES[scalar])) for g, e in zip(got, expected(name, scalar), strict=True)]
    worst = int(np.argmax(errors))
    assert errors[worst] <= BOUNDS[name] + 1e-9, f"{errors[worst]:.3f} ulp at {values[worst]!r}: {got[worst]!r}"


SPECIAL = [
    ("sincos.sin", [0.0, -0.0, INF, -INF, NAN], [0.0, -0.0, NAN, NAN, NAN]),
    ("sincos.cos", [0.0, -0.0, INF, -INF, NAN], [1.0, 1.0, NAN, NAN, NAN]),
    ("exp", [0.0, -0.0, INF, -INF, NAN, 1e4, -1e4], [1.0, 1.0, INF, 0.0, NAN, INF, 0.0]),
    ("log", [1.0, 0.0, -1.0, INF, NAN], [0.0, -INF, NAN, INF, NAN]),
    ("tanh", [0.0, -0.0, INF, -INF, NAN, 1e30], [0.0, -0.0, 1.0, -1.0, NAN, 1.0]),
    ("sqrt", [0.0, -0.0, INF, -1.0, NAN], [0.0, -0.0, INF, NAN, NAN]),
    ("abs", [0.0, -0.0, INF, -INF, NAN, -2.5], [0.0, 0.0, INF, INF, NAN, 2.5]),
]


@pytest.mark.parametrize("scalar", TYPES)
@pytest.mark.parametrize("mode", [(), ("scalar",)], ids=["pack", "scalar"])
@pytest.mark.parametrize(("name", "arguments", "wanted"), SPECIAL, ids=[case[0] for case in SPECIAL])
def test_special_values(
    build: tuple[str, str],
    compile_driver: Build,
    name: str,
    arguments: list[float],
    wanted: list[float],
    mode: tuple[str, ...],
    scalar: str,
) -> None:
    got = call(compile_driver("math_driver.cpp", *build), name, scalar, np.array(arguments), *mode)
    np.testing.assert_array_equal(got, wanted)
    numbers = ~np.isnan(got)
    np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(wanted)[numbers])


@pytest.mark.parametrize("scalar", TYPES)
@pytest.mark.parametrize("mode", [(), ("scalar",)], ids=["pack", "scalar"])
def test_two_arguments(build: tuple[str, str], compile_driver: Build, mode: tuple[str, ...], scalar: str) -> None:
    driver = compile_driver("math_driver.cpp", *build)
    step = 1 if mode else int(run(driver, "lanes", scalar))
    pool = np.array([0.0, 1.0, -1.5, 2.0, INF, -INF, NAN, 7.25], TYPES[scalar])
    x = np.random.default_rng(1).choice(pool, 4096)
    y = np.roll(x, -step)
    wanted = {
        "min": np.minimum(x, y),
        "max": np.maximum(x, y),
        "select": np.where(x <= y, x * 2, 0),
        "atan2": np.arctan2(x.astype(float), y.astype(float)).astype(TYPES[scalar]),
    }
    tolerance = 8 * np.finfo(TYPES[scalar]).eps
    for name, values in wanted.items():
        np.testing.assert_allclose(call(driver, name, scalar, x, *mode), values, rtol=tolerance)


@pytest.mark.parametrize("scalar", TYPES)
def test_error_of_atan2(build: tuple[str, str], compile_driver: Build, scalar: str) -> None:
    """All directions, next to the axes and diagonals, of all lengths, zeros and infinities in between."""
    driver, rng, info = compile_driver("math_driver.cpp", *build), np.random.default_rng(11), np.finfo(TYPES[scalar])
    lanes = int(run(driver, "lanes", scalar))
    angles = np.concatenate([rng.uniform(-np.pi, np.pi, 800), rng.integers(-8, 9, 400) * np.pi / 8])
    angles[::5] += 10 ** rng.uniform(-18, -1, len(angles[::5]))
    lengths = 10 ** rng.uniform(-3, 3, len(angles))
    lengths[::7] = float(info.max) * 10 ** rng.uniform(-2, 0, len(lengths[::7]))
    lengths[3::7] = float(info.tiny) * 10 ** rng.uniform(-3, 3, len(lengths[3::7]))
    with np.errstate(under="ignore"):
        pairs = (lengths * np.array([np.sin(angles), np.cos(angles)])).astype(TYPES[scalar])
    pairs[:, ::31] = rng.choice([0.0, -0.0, INF, -INF], (2, len(angles[::31])))
    y, x = (part[: len(angles) // lanes * lanes].reshape(-1, lanes) for part in pairs)
    got = call(driver, "atan2", scalar, np.stack([y, x], axis=1).ravel()).reshape(-1, 2, lanes)[:, 0].ravel()
    with mpmath.workdps(60):
        for value, rise, along in zip(got, y.ravel(), x.ravel(), strict=True):
            if rise == 0.0 or not np.isfinite([rise, along]).all():
                assert value == TYPES[scalar](math.atan2(float(rise), float(along)))
                assert np.signbit(value) == np.signbit(rise)
            else:
                exact = mpmath.atan2(mpmath.mpf(float(rise)), mpmath.mpf(float(along)))
                assert ulps(value, exact, info) <= 2.0, (rise, along)


@pytest.mark.parametrize("scalar", TYPES)
@pytest.mark.parametrize("name", ["sincos.sin", "sincos.cos", "sin", "cos", "exp", "tanh"])
def test_lanes_are_independent(build: tuple[str, str], compile_driver: Build, name: str, scalar: str) -> None:
    """The bits of a value do not depend on its neighbours, even where those take another path."""
    driver = compile_driver("math_driver.cpp", *build)
    values = np.concatenate([samples("sincos.sin", scalar), np.array([INF, NAN] * 40, TYPES[scalar])])
    order = np.random.default_rng(3).permutation(len(values))
    straight, shuffled = call(driver, name, scalar, values), call(driver, name, scalar, values[order])
    bits = np.uint64 if scalar == "double" else np.uint32
    numbers = ~np.isnan(straight[order])
    np.testing.assert_array_equal(straight[order][numbers].view(bits), shuffled[numbers].view(bits))
    np.testing.assert_array_equal(np.isnan(shuffled), ~numbers)


@pytest.mark.sanitize
@pytest.mark.parametrize("name", REFERENCES)
def test_under_sanitizers(build: tuple[str, str], compile_driver: Build, name: str) -> None:
    driver = compile_driver("math_driver.cpp", *build, *SANITIZERS)
    for scalar, dtype in TYPES.items():
        call(driver, name, scalar, np.concatenate([samples(name, scalar), np.array([INF, -INF, NAN], dtype)]))
