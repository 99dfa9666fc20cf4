"""Second derivatives of forward dynamics, from those of inverse dynamics at the acceleration of the sample.

With ``P = d qdd/d q`` and ``V = d qdd/d qd``, differentiating ``tau(q, qd, qdd(q, qd, u)) = u`` twice gives

    M d2qdd/dq_j dq_k   = -(d2tau/dq_j dq_k + dM/dq_k P_j + dM/dq_j P_k)
    M d2qdd/dqd_j dq_k  = -(d2tau/dqd_j dq_k + dM/dq_k V_j)
    M d2qdd/dqd_j dqd_k = -d2tau/dqd_j dqd_k
    d Minv/dq_k         = -Minv dM/dq_k Minv

(Singh, Russell and Wensing, "On second-order derivatives of rigid-body dynamics: theory and implementation", 2023).
``N_k = -Minv dM/dq_k`` is what the products share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import groupby
from typing import Any

from grid_core.kernel.builder import KernelBuilder
from grid_core.kernel.ground import ground_motion
from grid_core.plugins.algorithm import Algorithm, Output
from grid_core.trace.linalg import dot
from grid_core.trace.scalar import Real, is_zero
from grid_plugins.second_order.branches import Branches
from grid_plugins.second_order.inverse import friction_curvature
from grid_plugins.second_order.looped import many_triples
from grid_plugins.second_order.products import Product, Sum, Target, add_up
from grid_plugins.second_order.signature import CUBE, F_EXT, GRAVITY, QD, Q, U
from grid_plugins.second_order.structure import Packed
from grid_plugins.second_order.terms import Tensor
from grid_plugins.second_order.unrolled import unrolled
from grid_plugins.second_order.written_out import Loops, Named, written_out

Pair = tuple[int, int]
"""The slots ``j`` and ``k`` of a column ``[:, j, k]``."""

FEW = 9
"""Velocity coordinates up to which products are written out."""


def emit_fdsva_so(k: KernelBuilder) -> None:
    q, qd, u = (k.input(name) for name in ("q", "qd", "u"))
    shared = {"q": q, "qd": qd, "gravity": k.input("gravity")} | ({"f_ext": k.input("f_ext")} if k.has("f_ext") else {})
    minv = k.call("minv", q=q)
    free = [x - bias for x, bias in zip(u, k.call("inverse_dynamics", **shared))]
    qdd = [dot(row, free) for row in minv]
    gradient = k.call("inverse_dynamics_gradient", qdd=qdd, **shared)
    branches = Branches(ground_motion(k, q, qd, qdd, shared["gravity"], shared.get("f_ext")))
    tensors, curvature = Packed(branches), friction_curvature(k, qd)
    if many_triples(branches):
        tensors.fill(k, branches, curvature)
        Solver(k, tensors, minv, gradient).fill()
        return
    with written_out(k) if k.model.nv <= FEW else nullcontext(k) as loops:
        tensors.keep(loops, unrolled(k, branches, curvature))
        Solver(loops, tensors, minv, gradient).fill()


class Solver:
    """Solves the tensors of inverse dynamics for those of forward dynamics."""

    def __init__(
        self, loops: Loops, tensors: Packed, minv: Sequence[Sequence[Real]], gradient: Sequence[Sequence[Real]]
    ) -> None:
        self.loops = loops
        self.nv = nv = len(minv)
        self.tensors = tensors
        self.inverse = loops.array("minv", [x for row in minv for x in row])
        with loops.section("derivatives of the acceleration"):
            self.by_position = self._solved_gradient([row[:nv] for row in gradient])
            self.by_velocity = self._solved_gradient([row[nv:] for row in gradient])
        mass = list(tensors.columns[Tensor.MASS])
        self.shares = loops.array("shares", [None] * (nv * len(mass)))
        self.share_at = {pair: nv * number for number, pair in enumerate(mass)}
        """Where column ``j`` of ``N_k`` begins, by ``(j, k)``."""
        self.share_of = {n: tuple(j for j, _ in pairs) for n, pairs in groupby(mass, key=lambda pair: pair[1])}
        """The columns that ``N_k`` has, by ``k``."""
        with loops.section("minus minv times dM/dq"):
            targets = {pair: Target(self.shares, at, 1) for pair, at in self.share_at.items()}
            add_up(loops, nv, [Sum(self._solved(Tensor.MASS, *pair), (target,)) for pair, target in targets.items()])

    def _solved_gradient(self, gradient: Sequence[Sequence[Real]]) -> Any:
        """Return derivatives of the acceleration, column after column, from those of inverse dynamics."""
        source = self.loops.array("gradient", [x for column in zip(*gradient) for x in column if not is_zero(x)])
        solved = self.loops.array("rates", [None] * self.nv**2)
        nv, sums, first = self.nv, [], 0
        for j, column in enumerate(zip(*gradient)):
            rows = tuple(i for i, x in enumerate(column) if not is_zero(x))
            product = Product(self.inverse, 0, nv, rows, source, first, tuple(range(len(rows))), -1.0)
            sums.append(Sum((product,), (Target(solved, nv * j, 1),)))
            first += len(rows)
        add_up(self.loops, nv, sums)
        return solved

    def _solved(self, tensor: Tensor, j: int, k: int) -> tuple[Product, ...]:
        """Return the product of ``-Minv`` with a column of a tensor, if it has one."""
        rows = self.tensors.columns[tensor].get((j, k), ())
        if not rows:
            return ()
        places = [self.tensors.place(i, j, k) for i in rows]
        entries = tuple(place - places[0] for place in places)
        return (Product(self.inverse, 0, self.nv, rows, self.tensors.slots[tensor], places[0], entries, -1.0),)

    def _shared(self, vectors: Named, j: int, k: int) -> tuple[Product, ...]:
        """Return the product of ``N_k`` with a column of a matrix, kept column after column, if ``N_k`` is not zero."""
        if k not in self.share_of:
            return ()
        rows = self.share_of[k]
        places = [self.share_at[row, k] for row in rows]
        columns = tuple(place - places[0] for place in places)
        return (Product(self.shares, places[0], 1, columns, vectors, self.nv * j, rows),)

    def fill(self) -> None:
        """Set the outputs."""
        every = {(j, k) for j in range(self.nv) for k in range(self.nv)}
        self._output("d2qdd_dq", self._by_positions, every - self.tensors.of_one_joint)
        self._output("d2qdd_cross", self._by_velocity_and_position, set())
        self._output("d2qdd_dqd", partial(self._solved, Tensor.VELOCITIES), every)
        self._fill_inverse()

    def _by_positions(self, j: int, k: int) -> tuple[Product, ...]:
        shared = self._shared(self.by_position, j, k) + self._shared(self.by_position, k, j)
        return shared + self._solved(Tensor.POSITIONS, j, k)

    def _by_velocity_and_position(self, j: int, k: int) -> tuple[Product, ...]:
        return self._shared(self.by_velocity, j, k) + self._solved(Tensor.CROSS, j, k)

    def _output(self, name: str, column: Callable[[int, int], tuple[Product, ...]], symmetric: set[Pair]) -> None:
        """Set columns ``[:, j, k]`` of an output, those that are symmetric in ``j`` and ``k`` once for both."""
        nv, sums = self.nv, []
        result = self.loops.result(name)
        for j in range(nv):
            for k in range(nv):
                mirrored = (j, k) in symmetric and j != k
                if products := () if mirrored and j < k else column(j, k):
                    places = ((j, k), (k, j)) if mirrored else ((j, k),)
                    sums.append(Sum(products, tuple(Target(result, nv * a + b, nv * nv) for a, b in places)))
        with self.loops.section(name):
            add_up(self.loops, nv, sums)

    def _fill_inverse(self) -> None:
        """Set the derivatives of the inverse mass matrix, entries on both sides of its diagonal once for both."""
        nv, sums = self.nv, []
        result = self.loops.result("d2qdd_du")
        for j in range(nv):
            for k in range(nv):
                if products := self._shared(self.inverse, j, k):
                    targets = Target(result, nv * j + k, nv * nv), Target(result, nv * nv * j + k, nv)
                    sums.append(Sum(products, targets, first=j))
        with self.loops.section("d2qdd_du"):
            add_up(self.loops, nv, sums)


ALGORITHMS = (
    Algorithm(
        name="fdsva_so",
        family="second_order",
        summary="Second derivatives of forward dynamics at fixed u, and the derivative of the inverse mass matrix.",
        inputs=(Q, QD, U, GRAVITY, F_EXT),
        outputs=(
            Output("d2qdd_dq", CUBE, "[i, j, k]: derivative along direction k of d qdd_i / d q_j"),
            Output("d2qdd_cross", CUBE, "[i, j, k]: d2 qdd_i / d qd_j d q_k"),
            Output("d2qdd_dqd", CUBE, "[i, j, k]: d2 qdd_i / d qd_j d qd_k"),
            Output("d2qdd_du", CUBE, "[i, j, k]: d2 qdd_i / d u_j d q_k = d Minv_ij / d q_k"),
        ),
        emit=emit_fdsva_so,
        requires=("minv", "inverse_dynamics", "inverse_dynamics_gradient"),
        profiles=("dynamics", "second-order"),
        result="SecondOrderFD",
        notes="Directions of a floating base or a spherical joint do not commute: d2qdd_dq is symmetric in j and k "
        "only where they belong to different joints. f_ext is held constant in body axes.",
        source="Singh, Russell and Wensing, On second-order derivatives of rigid-body dynamics, 2023",
    ),
)
