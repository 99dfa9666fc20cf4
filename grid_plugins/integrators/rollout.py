"""Many steps in one call: what is declared here, front-ends carry out with the units of single steps."""

from __future__ import annotations

from dataclasses import replace

from grid_core.plugins.algorithm import Algorithm, Input, Output, Scan
from grid_plugins.integrators.signature import AB, DT, F_EXT, F_EXT_SHARED, GRAVITY, QD, Q, U

U_ROWS = replace(U, doc="generalised force of each step (N m, N)")
STATES = Output("states", ("nx",), "states [q; qd] at the beginning and after every step")


def per_step(wrenches: Input) -> Input:
    return replace(
        wrenches, doc=wrenches.doc.replace("external wrench on each body", "external wrench on each body in each step")
    )


NOTES = "A single row of u or f_ext serves all steps. dt and gravity are the same in all steps of a sample."

ALGORITHMS = (
    Algorithm(
        name="rollout",
        family="integrators",
        summary="States along many steps in time, from (q, qd) under one row of u per step.",
        inputs=(Q, QD, U_ROWS, DT, GRAVITY, per_step(F_EXT)),
        outputs=(STATES,),
        scan=Scan("integrator", ("q", "qd"), ("u", "f_ext")),
        requires=("integrator",),
        profiles=("integrators",),
        notes=NOTES,
    ),
    Algorithm(
        name="rollout_gradient",
        family="integrators",
        summary="States along many steps in time, and [A | B] of every step.",
        inputs=(Q, QD, U_ROWS, DT, GRAVITY, per_step(F_EXT_SHARED)),
        outputs=(STATES, replace(AB, doc=f"of each step, {AB.doc}")),
        scan=Scan("integrator", ("q", "qd"), ("u", "f_ext"), ("integrator_gradient",)),
        requires=("integrator", "integrator_gradient"),
        profiles=("integrators",),
        notes=NOTES,
    ),
)
