"""Renders units and headers from traced kernels with Jinja2."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grid_core.codegen.held import HELD, divide
from grid_core.codegen.layout import Layout, layouts, whole_rows
from grid_core.codegen.order import by_demand
from grid_core.codegen.schedule import Schedule, schedule
from grid_core.codegen.statements import Function, write_constants, write_functions, write_zeros
from grid_core.codegen.tables import robot_tables
from grid_core.codegen.text import comment, cstring, quoted, smallest_integer
from grid_core.errors import OptionError
from grid_core.kernel.builder import trace_algorithm, variants
from grid_core.kernel.kernel import Argument, Kernel
from grid_core.kernel.settings import TraceSettings
from grid_core.plugins.algorithm import Algorithm, Input, Output
from grid_core.plugins.check import CPP_WORDS

if TYPE_CHECKING:
    from jinja2 import Environment

    from grid_core.model import Model

RUNTIME = Path(__file__).parent / "runtime"
"""The headers that generated code includes."""

TEMPLATES = Path(__file__).parent / "templates"
SCALARS = {"float32": "float", "float64": "double"}
TAKEN = CPP_WORDS | {"gm", "std"}
"""Words that the namespace of a header cannot be."""

STACK_BYTES = 256 * 1024
"""Kernels that need more memory per pack take it from the heap."""

PACKS = 4
"""Packs that a piece of a long kernel works on before the next piece, while its instructions are in the first cache."""

HELD_PACKS, HELD_BUDGET, HELD_GROUP = 2, 600, 150
"""The same for kernels with held inputs, then operations of a function, and of a group (see :func:`by_demand`). They
read and write much for what they compute; all that has to fit the first cache."""


@dataclass(frozen=True)
class Rendered:
    """A kernel as a template sees it.

    Functions keep outputs as their ``layouts`` say; ``constants`` are the statements that set what is known beforehand.
    """

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    layouts: tuple[Layout, ...]
    functions: tuple[Function, ...]
    constants: tuple[str, ...]
    slots: int
    operations: int
    packs: int
    large: bool
    first: Rendered | None = None
    """What runs before, on held inputs alone."""

    @property
    def own(self) -> tuple[Argument, ...]:
        """The inputs of which every pack has its own."""
        return tuple(a for a in self.inputs if not a.held) if self.first else self.inputs

    @property
    def held(self) -> list[str]:
        """The names of the inputs of functions that are one value for all samples of most calls."""
        return [*(a.name for a in self.inputs if a.held), HELD] if self.first else []

    @property
    def unused(self) -> list[str]:
        """The names of the arguments that no function takes and no constant is for, ``ws`` included."""
        taken = {name for function in self.functions for name in (*function.inputs, *function.outputs)}
        taken |= {argument.name for argument in self.outputs if argument.size}
        if any(function.workspace for function in self.functions):
            taken.add("ws")
        return [name for name in (*(a.name for a in (*self.inputs, *self.outputs)), "ws") if name not in taken]


def render_kernel(kernel: Kernel, *, rows: bool = False) -> Rendered:
    """Schedule a kernel and write its functions.

    Parameters
    ----------
    rows : bool
        Functions write whole rows of outputs, instead of what is kept of them.
    """
    kept = whole_rows(kernel) if rows else layouts(kernel)
    return _rendered(schedule(kernel, kept), PACKS, rows=rows)


def render_divided(kernel: Kernel) -> Rendered:
    """Return a kernel, and what follows from its held inputs, if it has any, as a kernel that runs before."""
    divided = divide(kernel)
    if divided is None:
        return render_kernel(kernel)
    order = partial(by_demand, size=HELD_GROUP)
    plan = schedule(divided.rest, layouts(divided.rest), HELD_BUDGET, order)
    rest = _rendered(plan, HELD_PACKS, [HELD, *(argument.name for argument in kernel.inputs if argument.held)])
    first = render_kernel(divided.first, rows=True)
    return replace(
        rest,
        inputs=kernel.inputs,
        outputs=kernel.outputs,
        operations=sum(kernel.operations().values()),
        large=rest.large or first.large,
        first=first,
    )


def _rendered(plan: Schedule, most_packs: int, held: Sequence[str] = (), *, rows: bool = False) -> Rendered:
    kernel, kept = plan.kernel, plan.kept
    sizes = [argument.size for argument in kernel.inputs] + [layout.size for layout in kept.values()]
    needed = 64 * (plan.slots + sum(sizes))
    packs = max(1, min(most_packs, STACK_BYTES // needed)) if len(plan.pieces) > 1 else 1
    return Rendered(
        kernel.name,
        kernel.inputs,
        kernel.outputs,
        tuple(kept.values()),
        write_functions(plan, held),
        (*(write_zeros(kernel) if rows else ()), *write_constants(plan)),
        plan.slots,
        sum(kernel.operations().values()),
        packs,
        needed > STACK_BYTES,
    )


def render_unit(
    algorithm: Algorithm,
    model: Model,
    algorithms: Mapping[str, Algorithm],
    settings: TraceSettings,
    dtype: str,
    template_folders: Sequence[str] = (),
) -> str:
    """Return the C++ source of one algorithm for one robot on the CPU target, all variants included."""
    kernels = [trace_algorithm(algorithm, model, algorithms, settings, absent) for absent in variants(algorithm)]
    return render_template(
        algorithm.template,
        template_folders,
        algorithm=algorithm,
        model=model,
        scalar=SCALARS[dtype],
        kernels=[render_divided(kernel) for kernel in kernels],
    )


def render_header(
    names: Sequence[str],
    model: Model,
    algorithms: Mapping[str, Algorithm],
    settings: TraceSettings,
    namespace: str = "grid",
    template_folders: Sequence[str] = (),
) -> str:
    """Return ``grid.hpp``: the algorithms as functions of one sample, for host and device code of consumers.

    Parameters
    ----------
    names : sequence of str
        Algorithms to include.
    namespace : str
        C++ namespace; another one for each robot of a translation unit.
    """
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", namespace) or "__" in namespace or namespace in TAKEN:
        raise OptionError(f"namespace is {namespace!r}, expected a C++ identifier such as 'grid'")
    chosen = [algorithms[name] for name in names]
    kernels = {
        algorithm.name: [
            render_kernel(trace_algorithm(algorithm, model, algorithms, settings, absent), rows=True)
            for absent in variants(algorithm)
        ]
        for algorithm in chosen
    }
    return render_template(
        "grid.hpp.j2",
        template_folders,
        **robot_tables(model, settings),
        model=model,
        namespace=namespace,
        algorithms=chosen,
        kernels=[kernel for several in kernels.values() for kernel in several],
        public=[(algorithm, _overloads(algorithm, kernels[algorithm.name])) for algorithm in chosen],
        sizes={algorithm.name: _sizes(algorithm) for algorithm in chosen},
        scalar_math=_runtime("scalar_math.hpp"),
        packs=_runtime("pack_type.hpp") + _runtime("pack_math.hpp"),
    )


def _runtime(name: str) -> str:
    """Return a header of generated code without the others that it includes."""
    text = (RUNTIME / name).read_text("utf-8")
    return re.sub(r'#include ".*"\n\n?', "", text)


def _overloads(algorithm: Algorithm, kernels: Sequence[Rendered]) -> list[tuple[str, Rendered]]:
    """Return the variants with the names of their functions: the algorithm's where the number of arguments tells them.

    Others are called as their kernels, by what they are without.
    """
    counts = [len(kernel.inputs) for kernel in kernels]
    return [(algorithm.name if counts.count(n) == 1 else k.name, k) for k, n in zip(kernels, counts)]


def _sizes(algorithm: Algorithm) -> dict[str, str]:
    """Return the declared size of every argument as text, such as ``nv * 2*nv``."""
    arguments: tuple[Input | Output, ...] = (*algorithm.inputs, *algorithm.outputs)
    return {argument.name: " * ".join(_factor(axis) for axis in argument.shape) or "1" for argument in arguments}


def _factor(axis: str) -> str:
    return f"({axis})" if "+" in axis else axis


def render_template(template: str, folders: Sequence[str], **values: Any) -> str:
    """Render a template of a plugin's folders or of the core."""
    return environment(folders).get_template(template).render(**values)


def environment(folders: Sequence[str] = ()) -> Environment:
    """Return the Jinja2 environment: plugin folders first, then the core's templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(  # noqa: S701 - the output is C++, which HTML escapes would break
        loader=FileSystemLoader([*folders, str(TEMPLATES)]),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    made.filters |= {"comment": comment, "cstring": cstring, "quoted": quoted, "smallest_integer": smallest_integer}
    return made
