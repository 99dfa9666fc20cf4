"""The mass matrix without its scales, as a loop, and its derivative."""

from __future__ import annotations

from grid_core.kernel.builder import KernelBuilder, Row
from grid_core.plugins import Algorithm, Input, Jacobian, Output
from grid_core.trace import sqrt

Q = Input("q", ("nq",), "configuration", tangent="configuration")


def emit_coupling(k: KernelBuilder) -> None:
    """Trace one entry, and run that for every pair of coordinates."""
    nv = k.model.nv
    mass = k.call_workspace("crba", q=k.input("q"))["m"]
    scale = k.array("scale", [1.0 / sqrt(mass.values()[i * nv + i]) for i in range(nv)])
    result = k.result("coupling")

    def entry(row: Row) -> None:
        row.store(result, 0, row.load(mass, 0) * row.load(scale, 1) * row.load(scale, 2))

    with k.section("pairs"):
        k.loop([(i * nv + j, i, j) for i in range(nv) for j in range(nv)], entry)


def emit_gradient(k: KernelBuilder) -> None:
    """Differentiate the same written out: loops have no derivative of their own."""
    nv = k.model.nv
    mass = k.call("crba", q=k.input("q"))
    values = [[mass[i][j] / sqrt(mass[i][i] * mass[j][j]) for j in range(nv)] for i in range(nv)]
    rows = iter(k.jacobian(values, "q"))
    k.output("gradient", [[next(rows) for _ in range(nv)] for _ in range(nv)])


ALGORITHMS = (
    Algorithm(
        name="mass_coupling",
        family="coupling",
        summary="Inertial coupling of every pair of coordinates.",
        inputs=(Q,),
        outputs=(Output("coupling", ("nv", "nv"), "M_ij / sqrt(M_ii M_jj), between -1 and 1"),),
        emit=emit_coupling,
        requires=("crba",),
        profiles=("coupling",),
        jacobian={"q": Jacobian("mass_coupling_gradient")},
    ),
    Algorithm(
        name="mass_coupling_gradient",
        family="coupling",
        summary="Derivative of the inertial coupling along the tangent of the configuration.",
        inputs=(Q,),
        outputs=(Output("gradient", ("nv", "nv", "nv"), "d coupling / d q, the tangent last"),),
        emit=emit_gradient,
        requires=("crba",),
        profiles=("coupling",),
    ),
)
