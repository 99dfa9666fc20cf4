"""What the header has of configurations beside the algorithms: coordinate blocks, maps without scratch, joint poses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grid_core.kernel.builder import KernelBuilder, trace_algorithm
from grid_core.kernel.manifold import log_jacobians, logarithm, retracted
from grid_core.plugins import Algorithm, HeaderContents, HeaderSection, Input, Output
from grid_core.trace.linalg import Vector
from grid_plugins.integrators.joints import is_scalar

if TYPE_CHECKING:
    from grid_core.codegen.render import Rendered

TEMPLATES = Path(__file__).parent / "templates"
KINDS = ("scalar", "spherical", "floating")
"""Kinds of coordinate blocks; the position is the number in the header."""


def values(contents: HeaderContents) -> Mapping[str, Any]:
    """Return what the template is filled with."""
    model = contents.model
    blocks = model.coordinate_blocks
    present = {kind: (nq, nv) for kind, _, _, nq, nv in blocks}
    wide = {kind: present[kind] for kind in KINDS[1:] if kind in present}
    baked = "transform" not in contents.settings.runtime
    return {
        "kinds": KINDS,
        "blocks": [(KINDS.index(kind), *rest) for kind, *rest in blocks],
        "wide": {kind: {"nq": nq, "nv": nv} for kind, (nq, nv) in wide.items()},
        "maps": [kernel for kind, (nq, nv) in wide.items() for kernel in _maps(contents, kind, nq, nv)],
        "joints": [(i, joint, _pose(contents, i), is_scalar(joint)) for i, joint in enumerate(model.joints) if baked],
    }


def _rendered(
    contents: HeaderContents,
    name: str,
    inputs: Mapping[str, int],
    outputs: Mapping[str, int],
    function: Callable[..., Iterable[Sequence[Any]]],
) -> Rendered:
    """Return a function of vectors as C++."""

    def emit(k: KernelBuilder) -> None:
        results = function(*(tuple(k.input(i)) for i in inputs))
        for output, result in zip(outputs, results):
            k.output(output, result)

    algorithm = Algorithm(
        name=name,
        family="integrators",
        summary=name,
        inputs=tuple(Input(i, (str(size),), "") for i, size in inputs.items()),
        outputs=tuple(Output(o, (str(size),), "") for o, size in outputs.items()),
        emit=emit,
    )
    rendered = contents.rendered(trace_algorithm(algorithm, contents.model, {}))
    assert len(rendered.functions) == 1, "maps are too short to be cut, so that they need no scratch"
    return rendered


def _maps(contents: HeaderContents, kind: str, nq: int, nv: int) -> Iterator[Rendered]:
    """Yield the maps of one kind of blocks; matrices are column by column."""
    pair, square = {"from": nq, "to": nq}, {"j_from": nv * nv, "j_to": nv * nv}
    make = partial(_rendered, contents)
    yield make(f"{kind}_integrate", {"q": nq, "d": nv}, {"q_next": nq}, lambda q, d: [retracted(q, d)])
    yield make(f"{kind}_difference", pair, {"delta": nv}, lambda a, b: [logarithm(a, b)])
    yield make(f"{kind}_difference_jacobians", pair, square, lambda a, b: map(_by_columns, log_jacobians(a, b)))


def _by_columns(matrix: Sequence[Vector]) -> list[Any]:
    return [x for column in zip(*matrix) for x in column]


def _pose(contents: HeaderContents, number: int) -> Rendered:
    """Return the homogeneous pose of a body in its parent as a function of the joint's own coordinates."""
    model = contents.model
    joint = model.joints[number]

    def emit(k: KernelBuilder) -> None:
        q: list[Any] = [0.0] * model.nq
        q[joint.q_index : joint.q_index + joint.nq] = k.input("own")
        pose = k.tree.transform(number, q)
        rows = [(*row, x) for row, x in zip(pose.rotation, pose.translation)]
        k.output("transform", _by_columns([*rows, (0.0, 0.0, 0.0, 1.0)]))

    algorithm = Algorithm(
        name=f"pose_of_joint_{number}",
        family="integrators",
        summary=joint.name,
        inputs=(Input("own", (str(joint.nq),), ""),),
        outputs=(Output("transform", ("16",), ""),),
        emit=emit,
    )
    return contents.rendered(trace_algorithm(algorithm, model, {}))


def section(names: Sequence[str]) -> HeaderSection:
    """Return the section, which headers with any of the named algorithms have."""
    return HeaderSection("configuration_maps.hpp.j2", tuple(names), values)
