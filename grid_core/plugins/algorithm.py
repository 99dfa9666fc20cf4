"""What a plugin declares: the signature of an algorithm and the function that traces it.

The declaration is the single source of truth. C++ signatures, handle methods, documentation, framework rules,
command-line listings and tests are derived from it; no other place knows an algorithm by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grid_core.kernel.builder import KernelBuilder
    from grid_core.plugins.robot_view import Reader

Shape = tuple[str, ...]
"""Per-sample shape in terms of the model's dimensions: ``("nv", "2*nv+1")``. See :func:`resolve`."""


class Absent(Enum):
    """What a call without an optional input means."""

    ZERO = "zero"
    """It reads as zeros; one kernel serves both calls."""
    VARIANT = "variant"
    """A second kernel is traced without it, so that callers who leave it out do not pay for it."""


@dataclass(frozen=True)
class Input:
    """One argument of an algorithm.

    Parameters
    ----------
    name : str
        Python and C++ argument name.
    shape : tuple of str
        Per-sample shape, each axis a sum of products of integers and model dimensions (``"nq"``, ``"6*nb"``).
    doc : str
        Meaning, units and frame, one line.
    default : float or None
        Value of a call that leaves the argument out; ``None`` with ``absent`` set means "not given".
    absent : Absent or None
        Set for optional arguments.
    keyword_only : bool
        Python signature only.
    scalar_slot : int or None
        A plain number ``s`` is accepted as the vector that is ``s`` in this slot and zero elsewhere
        (``gravity=-9.81``).
    tangent : str or None
        Differentiation space: ``"configuration"`` (columns along the tangent, width nv) or ``None`` (plain vector
        space).
    read : callable or None
        ``read(robot, given)`` turns what a caller passed, names of frames for instance, into the numbers that the
        kernel takes. ``given`` holds the caller's values of all inputs that have a reader, ``None`` for those left out.
        Where ``absent`` is set it may return ``None``, which leaves the input out.
    each : bool
        The reader gives one row per item of a list, which becomes one more batch axis of the call, the last one.
    required : bool
        A call has to give the argument although it has a reader, which could do without.
    typical : float
        The size that values usually have, for random samples of them.
    held : bool
        Most calls give one value for all samples: what follows from such inputs alone is then computed once.
    """

    name: str
    shape: Shape
    doc: str
    default: float | None = None
    absent: Absent | None = None
    keyword_only: bool = False
    scalar_slot: int | None = None
    tangent: str | None = None
    read: Reader | None = None
    each: bool = False
    required: bool = False
    typical: float = 1.0
    held: bool = False

    @property
    def optional(self) -> bool:
        return self.absent is not None or self.default is not None or (self.read is not None and not self.required)


@dataclass(frozen=True)
class Output:
    """One result of an algorithm, per-sample shape as for :class:`Input`."""

    name: str
    shape: Shape
    doc: str


@dataclass(frozen=True)
class Jacobian:
    """The derivative of an algorithm along one of its inputs, as columns of what another algorithm returns.

    Parameters
    ----------
    algorithm : str
        It takes inputs of the algorithm and has one output: the shape of the algorithm's only output, and one more axis
        of columns. Along a configuration these are the nv columns of the tangent, else one per scalar of the input.
    first : tuple of str
        Where the columns begin: the widths of what comes before, such as ``("nv",)``.
    """

    algorithm: str
    first: Shape = ()


@dataclass(frozen=True)
class Choice:
    """A keyword argument that picks one of several algorithms with the same signature.

    Parameters
    ----------
    name : str
        The argument.
    default : str
        Its value where a call leaves it out.
    algorithms : mapping of str to str
        Value -> the algorithm that it stands for.
    doc : str
        Meaning, one line.
    stacked : mapping of str to tuple of str
        An input of the method -> the inputs of the algorithms that it holds one after another along its last axis.
    """

    name: str
    default: str
    algorithms: Mapping[str, str]
    doc: str
    stacked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def inputs_of(self, inputs: tuple[Input, ...]) -> tuple[str, ...]:
        """Return the names that the inputs of the method have in the algorithms."""
        return tuple(name for i in inputs for name in self.stacked.get(i.name, (i.name,)))


@dataclass(frozen=True)
class Scan:
    """A method that calls a step again and again, each time from where the last call ended.

    Its inputs are those of the step. Its first output has the state at the beginning and after every step, its further
    outputs what algorithms beside the step return for every step.

    Parameters
    ----------
    step : str
        The algorithm of one step; its output is the new state.
    carried : tuple of str
        Inputs of the step that the state holds one after another.
    along : tuple of str
        Inputs with one row per step: the steps are their last batch axis. A single row serves all steps.
    beside : tuple of str
        Algorithms with the inputs of the step and one output, one per further output of the method.
    """

    step: str
    carried: tuple[str, ...]
    along: tuple[str, ...]
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Algorithm:
    """The declaration of one algorithm.

    Parameters
    ----------
    name, family, summary : str
        Unique name, the family that lists it, and one line on what it computes.
    inputs, outputs : tuple
        Signature, in the order of the Python call.
    emit : callable or None
        ``emit(k)`` traces the algorithm with a :class:`~grid_core.kernel.builder.KernelBuilder`; None with ``choice``
        or ``scan``, which have no unit of their own.
    choice : Choice or None
        Set instead of ``emit``: the method calls one of the algorithms that it names, which are in ``requires``.
    scan : Scan or None
        Set instead of ``emit``: the method calls those that it names, which are in ``requires``, many times.
    requires : tuple of str
        Algorithms that ``emit`` uses through ``k.call``; an undeclared call is an error.
    aliases, profiles : tuple of str
        Other method names, and the named sets that contain it ("all" does unless ``opt_in``).
    opt_in : bool
        "all" leaves it out: it takes so long to compile that it is built only for those who name it.
    jacobian : mapping of str to Jacobian
        Input name -> where the derivative along it stands. Inputs left out are differentiated by the tracer, which is
        cheaper than multiplying by a Jacobian; declare one where that is not possible, as for values of loops, or not
        accurate. Front-ends derive their rules from it, see :mod:`grid_core.kernel.derivative`.
    needs : tuple of str
        Lists of the build options that must not be empty (``"contact_frames"``); profiles leave the algorithm out
        otherwise, and naming it is an error.
    result : str
        Class name of the named tuple that several outputs come in, which ``grid_rbd`` exports; after the algorithm
        unless given.
    notes, source : str
        More for the docstring (conventions, edge cases), and the paper or book it follows.
    template, cuda_template : str
        Jinja2 templates of a unit for the CPU and of each source file of one for CUDA; the core's unless the plugin
        brings its own.
    """

    name: str
    family: str
    summary: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    emit: Callable[[KernelBuilder], None] | None = None
    requires: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    jacobian: Mapping[str, Jacobian] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    choice: Choice | None = None
    scan: Scan | None = None
    result: str = ""
    notes: str = ""
    source: str = ""
    opt_in: bool = False
    template: str = "unit.cpp.j2"
    cuda_template: str = "unit.cu.j2"

    @property
    def result_name(self) -> str:
        """The class name of the named tuple of several outputs."""
        return self.result or "".join(word.capitalize() for word in self.name.split("_"))


def resolve(shape: Shape, dims: Mapping[str, int]) -> tuple[int, ...]:
    """Evaluate a declared shape: ``("nv", "2*nv+1")`` with ``{"nv": 7}`` is ``(7, 15)``."""
    return tuple(sum(_product(term, dims) for term in axis.split("+")) for axis in shape)


def _product(term: str, dims: Mapping[str, int]) -> int:
    return prod(int(factor) if factor.isdigit() else dims[factor] for factor in term.split("*"))
