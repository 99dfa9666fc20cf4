"""Small dense linear algebra over real numbers that may be symbolic. Vectors are tuples, matrices tuples of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grid_core.trace.functions import cos, sin
from grid_core.trace.scalar import Real, Scalar

Vector = tuple[Real, ...]
Matrix = tuple[Vector, ...]

ZERO3: Vector = (0.0, 0.0, 0.0)
IDENTITY3: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def vector(values: Iterable[Real]) -> Vector:
    """Return a vector of Python floats and scalars from any sequence (NumPy arrays included)."""
    return tuple(x if isinstance(x, Scalar) else float(x) for x in values)


def matrix(rows: Iterable[Iterable[Real]]) -> Matrix:
    return tuple(vector(row) for row in rows)


def plus(a: Vector, b: Vector) -> Vector:
    return tuple(x + y for x, y in zip(a, b))


def minus(a: Vector, b: Vector) -> Vector:
    return tuple(x - y for x, y in zip(a, b))


def negative(a: Vector) -> Vector:
    return tuple(-x for x in a)


def scale(a: Vector, s: Real) -> Vector:
    return tuple(x * s for x in a)


def dot(a: Sequence[Real], b: Sequence[Real]) -> Real:
    total: Real = 0.0
    for x, y in zip(a, b):
        total = total + x * y
    return total


def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def skew(a: Vector) -> Matrix:
    """Return the matrix of ``cross(a, .)``."""
    return ((0.0, -a[2], a[1]), (a[2], 0.0, -a[0]), (-a[1], a[0], 0.0))


def transpose(m: Matrix) -> Matrix:
    return tuple(zip(*m))


def matvec(m: Matrix, v: Vector) -> Vector:
    return tuple(dot(row, v) for row in m)


def matmul(a: Matrix, b: Matrix) -> Matrix:
    columns = transpose(b)
    return tuple(tuple(dot(row, column) for column in columns) for row in a)


def madd(a: Matrix, b: Matrix) -> Matrix:
    return tuple(plus(x, y) for x, y in zip(a, b))


def outer(a: Vector, b: Vector) -> Matrix:
    return tuple(tuple(x * y for y in b) for x in a)


def rotation_about(axis: Sequence[float], angle: Real) -> Matrix:
    """Return the rotation by ``angle`` about a constant unit axis (Rodrigues); principal axes give sparse matrices."""
    s, c = sin(angle), cos(angle)
    x, y, z = vector(axis)
    t = 1.0 - c

    def entry(i: int, j: int) -> Real:
        a, b = axis[i], axis[j]
        return c * (1.0 - float(a) * float(a)) + float(a) * float(a) if i == j else t * (float(a) * float(b))

    cross_terms = ((0.0, -z * s, y * s), (z * s, 0.0, -x * s), (-y * s, x * s, 0.0))
    return tuple(tuple(entry(i, j) + cross_terms[i][j] for j in range(3)) for i in range(3))


def rotation_of_quaternion(q: Sequence[Real]) -> Matrix:
    """Return the rotation of a quaternion ``x y z w`` after normalisation, so that any non-zero length is accepted."""
    x, y, z, w = q
    s = 2.0 / (x * x + y * y + z * z + w * w)
    sx, sy, sz = s * x, s * y, s * z
    xx, yy, zz = sx * x, sy * y, sz * z
    xy, xz, yz = sx * y, sx * z, sy * z
    wx, wy, wz = sx * w, sy * w, sz * w
    return (
        (1.0 - (yy + zz), xy - wz, xz + wy),
        (xy + wz, 1.0 - (xx + zz), yz - wx),
        (xz - wy, yz + wx, 1.0 - (xx + yy)),
    )


def rotation_of_rpy(rpy: Sequence[Real]) -> Matrix:
    """Return ``Rz(yaw) Ry(pitch) Rx(roll)``."""
    roll, pitch, yaw = rpy
    axes = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    z, y, x = (rotation_about(axis, angle) for axis, angle in zip(axes, (yaw, pitch, roll)))
    return matmul(z, matmul(y, x))
