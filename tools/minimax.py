"""Print the minimax polynomial coefficients used by ``grid_core/codegen/runtime/pack_math.hpp``.

Developer tool (needs mpmath). Each polynomial minimises the *relative* error of the function it serves, found by
the Remez exchange algorithm (Cheney, Introduction to Approximation Theory, chapter 3, section 8)::

    python tools/minimax.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mpmath as mp

mp.mp.dps = 60
Function = Callable[[mp.mpf], mp.mpf]


@dataclass(frozen=True)
class Target:
    """Approximate ``function`` on [low, high] so that ``weight * (polynomial - function)`` is level."""

    name: str
    function: Function
    weight: Function
    low: mp.mpf
    high: mp.mpf
    degrees: dict[str, int]  # C++ scalar type -> polynomial degree


def evaluate(coefficients: Sequence[mp.mpf], x: mp.mpf) -> mp.mpf:
    """Horner evaluation, lowest degree first."""
    value = mp.mpf(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def solve_levelled(target: Target, nodes: Sequence[mp.mpf]) -> list[mp.mpf]:
    """Coefficients whose weighted error has equal size and alternating sign on the nodes."""
    count = len(nodes)
    rows = mp.matrix(count, count)
    for i, x in enumerate(nodes):
        for j in range(count - 1):
            rows[i, j] = x**j
        rows[i, count - 1] = (-1) ** i / target.weight(x)
    return list(mp.lu_solve(rows, mp.matrix([target.function(x) for x in nodes])))[:-1]


def remez(target: Target, degree: int, rounds: int = 12, grid: int = 1500) -> tuple[list[mp.mpf], mp.mpf]:
    """Minimax coefficients (lowest first) and the largest weighted error on a dense grid."""
    middle, half = (target.low + target.high) / 2, (target.high - target.low) / 2
    points = [middle - half * mp.cos(mp.pi * i / grid) for i in range(grid + 1)]
    values = [target.function(x) for x in points]
    weights = [target.weight(x) for x in points]
    nodes = [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * degree + 4)) for i in range(degree + 2)]
    coefficients = solve_levelled(target, nodes)
    for _ in range(rounds):
        errors = [w * (evaluate(coefficients, x) - f) for x, w, f in zip(points, weights, values, strict=True)]
        exchanged = alternating_peaks(points, errors)
        if len(exchanged) < degree + 2:
            break
        coefficients = solve_levelled(target, strongest_run(exchanged, degree + 2))
    errors = [w * (evaluate(coefficients, x) - f) for x, w, f in zip(points, weights, values, strict=True)]
    return coefficients, max(abs(e) for e in errors)


def alternating_peaks(points: Sequence[mp.mpf], errors: Sequence[mp.mpf]) -> list[tuple[mp.mpf, mp.mpf]]:
    """The largest error of each run of equal sign, as (size, point), from left to right."""
    peaks: list[tuple[mp.mpf, mp.mpf]] = []
    sign = 0
    for x, e in zip(points, errors, strict=True):
        if mp.sign(e) == sign and peaks:
            peaks[-1] = max(peaks[-1], (abs(e), x))
        elif e != 0:
            sign = mp.sign(e)
            peaks.append((abs(e), x))
    return peaks


def strongest_run(peaks: list[tuple[mp.mpf, mp.mpf]], count: int) -> list[mp.mpf]:
    """The ``count`` consecutive peaks whose smallest one is largest."""
    runs = [peaks[i : i + count] for i in range(len(peaks) - count + 1)]
    return [x for _, x in max(runs, key=lambda run: min(size for size, _ in run))]


def sine_tail(z: mp.mpf) -> mp.mpf:
    """S(z) of sin(r) = r + r z S(z), z = r^2."""
    return mp.nsum(lambda k: (-1) ** (int(k) + 1) * z**k / mp.factorial(2 * k + 3), [0, 25])


def cosine_tail(z: mp.mpf) -> mp.mpf:
    """C(z) of cos(r) = 1 - z/2 + z^2 C(z), z = r^2."""
    return mp.nsum(lambda k: (-1) ** int(k) * z**k / mp.factorial(2 * k + 4), [0, 25])


def exponential_tail(r: mp.mpf) -> mp.mpf:
    """E(r) of exp(r) = 1 + r + r^2 E(r)."""
    return mp.nsum(lambda k: r**k / mp.factorial(k + 2), [0, 40])


def arctangent_tail(z: mp.mpf) -> mp.mpf:
    """A(z) of atan(r) = r + r z A(z), z = r^2."""
    if z < mp.mpf("1e-6"):
        return mp.nsum(lambda k: (-1) ** (int(k) + 1) * z**k / (2 * k + 3), [0, 12])
    return (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z


QUARTER = (mp.pi / 4 * mp.mpf("1.0001")) ** 2
HALF_LN2 = mp.log(2) / 2 * mp.mpf("1.0001")
EIGHTH = (mp.tan(mp.pi / 8) * mp.mpf("1.0001")) ** 2
TINY = mp.mpf("1e-12")
TARGETS = [
    Target("sin", sine_tail, lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z)), TINY, QUARTER, {"double": 5, "float": 2}),
    Target("cos", cosine_tail, lambda z: z * z / mp.cos(mp.sqrt(z)), TINY, QUARTER, {"double": 5, "float": 2}),
    Target(
        "atan",
        arctangent_tail,
        lambda z: z * mp.sqrt(z) / mp.atan(mp.sqrt(z)),
        TINY,
        EIGHTH,
        {"double": 10, "float": 4},
    ),
    Target("exp", exponential_tail, lambda r: abs(r) + TINY, -HALF_LN2, HALF_LN2, {"double": 10, "float": 5}),
]


def literal(value: mp.mpf, scalar: str) -> str:
    """The exactly rounded C++ literal."""
    bits = 53 if scalar == "double" else 24
    with mp.workprec(bits):
        rounded = +value
    mantissa, exponent = float(rounded).hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}" + ("f" if scalar == "float" else "")


def split(value: mp.mpf, bits: Sequence[int]) -> list[mp.mpf]:
    """Parts of ``value`` with the given numbers of significant bits, largest first (Cody and Waite)."""
    parts = []
    for count in bits:
        with mp.workprec(count):
            part = +value
        parts.append(part)
        value = value - part
    return parts


def main() -> None:
    """Print every table."""
    for target in TARGETS:
        for scalar, degree in target.degrees.items():
            coefficients, error = remez(target, degree)
            print(f"{target.name} {scalar}: largest relative error 2^{float(mp.log(error, 2)):.1f}")
            for coefficient in coefficients:
                print(f"    {literal(coefficient, scalar)},")
    mp.mp.dps = 120
    for scalar, bits in (("double", 53), ("float", 24)):
        for name, value in (("pi/4", mp.pi / 4), ("3 pi/4", 3 * mp.pi / 4)):
            print(name, scalar, ", ".join(literal(p, scalar) for p in split(+value, [bits, bits])))
    for name, value, short in (("pi/2", mp.pi / 2, 4), ("ln 2", mp.log(2), 2)):
        for scalar, bits, short_bits in (("double", 53, 33), ("float", 24, 12)):
            fused = split(+value, [bits] * (3 if short == 4 else 2))
            plain = split(+value, [short_bits] * (short - 1) + [bits])
            print(name, scalar, "fused:", ", ".join(literal(p, scalar) for p in fused))
            print(name, scalar, "rounded products:", ", ".join(literal(p, scalar) for p in plain))


if __name__ == "__main__":
    main()
