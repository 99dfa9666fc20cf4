"""Checks a declaration before it is accepted: names that C++ and Python can carry, shapes that can be resolved."""

from __future__ import annotations

import keyword
import re

from grid_core.errors import PluginError
from grid_core.plugins.algorithm import Algorithm, Choice, Input, Jacobian, Output, Scan, resolve
from grid_core.plugins.fields import check_fields

NAME = re.compile(r"[a-z][a-z0-9_]*")
ARGUMENT_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*")
"""Arguments have the names of the mathematics, such as ``Q`` or ``dM_dq``."""

RESULT_NAME = re.compile(r"[A-Z][a-zA-Z0-9]*")
CPP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t
        class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue
        decltype default delete do double dynamic_cast else enum explicit export extern false float for friend
        goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
        protected public register reinterpret_cast requires return short signed sizeof static static_assert
        static_cast struct switch template this thread_local throw true try typedef typeid typename union
        unsigned using virtual void volatile wchar_t while xor xor_eq
        """,
    )
)
"""Keywords of C++, up to C++20."""

RESERVED = CPP_WORDS | frozenset(
    re.findall(
        r"\w+",
        """
        H T V at begin detail end first held in in_stride int64_t lanes memory model once out out_stride owner rows same
        self stream table threads unit ws
        """,
    )
)
"""Words that names cannot be: those of C++ and those that generated functions use themselves."""
HANDLE_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        apply_batch_overlay apply_profile_overlay attach_tool backend capabilities capture close closed
        configuration_layout
        contact_frames context coordinate_block coordinate_block_count cost_frames ctx_id detach_tool device
        device_profile dims dtype floating_base frames framework friction_model inertia_params install_device_pool
        is_pinned
        joint_armature joint_damping joint_effort_limits joint_friction joint_friction_width joint_names
        joint_pos_limits joint_vel_limits
        kernel_max_threads max_batch max_perf_level_threads meta model model_version mujoco name nb neutral nq
        num_bodies num_ees num_joints num_vel nv output_convention output_layout pinned_empty random
        runtime_inertia runtime_joint_dynamics runtime_transform set_inertia_params set_joint_dynamics
        set_threads_per_block set_transform_params threads threads_per_block tool transform_params xp
        """,
    )
)
"""Attributes of handles: a method of such a name would hide one, so no algorithm has it."""

LISTS = ("contact_frames", "cost_frames")
"""Options that an algorithm can need to be given."""

DIMENSIONS = dict.fromkeys(("nq", "nv", "nb", "nx", "nee", "nf", "nc", "nu", "nl", "mx", "mu"), 1)


def check_algorithm(algorithm: Algorithm) -> None:
    """Raise :class:`PluginError` for a declaration that cannot become code."""
    if not isinstance(algorithm, Algorithm):
        raise PluginError(f"grid_algorithms() returned {algorithm!r}; return grid_core.plugins.Algorithm objects")
    check_fields(algorithm)
    for name in (algorithm.name, *algorithm.aliases):
        _check_name(f"algorithm {algorithm.name!r}", name)
        if name in HANDLE_WORDS:
            raise PluginError(
                f"algorithm {algorithm.name!r}: every handle has an attribute {name!r}, which a method of that name "
                "would hide; rename the algorithm or its alias"
            )
    _check_body(algorithm)
    if not algorithm.outputs:
        raise PluginError(f"algorithm {algorithm.name!r} has no outputs; declare at least one")
    arguments: list[Input | Output] = [*algorithm.inputs, *algorithm.outputs]
    for option in algorithm.needs:
        if option not in LISTS:
            raise PluginError(f"algorithm {algorithm.name!r} needs {option!r}; options are {', '.join(LISTS)}")
    for argument in arguments:
        _check_name(f"argument of {algorithm.name!r}", argument.name, ARGUMENT_NAME)
        _check_shape(algorithm, argument)
    _check_unique(algorithm)
    _check_order(algorithm)
    _check_result(algorithm)
    _check_jacobian(algorithm)


def _check_body(algorithm: Algorithm) -> None:
    if algorithm.choice is not None:
        _check_choice(algorithm, algorithm.choice)
    elif algorithm.scan is not None:
        _check_scan(algorithm, algorithm.scan)
    elif not callable(algorithm.emit):
        raise PluginError(f"algorithm {algorithm.name!r}: emit is {algorithm.emit!r}; give the function that traces it")


def _check_choice(algorithm: Algorithm, choice: Choice) -> None:
    named = {*choice.algorithms.values()}
    if algorithm.emit is not None or choice.default not in choice.algorithms or named != {*algorithm.requires}:
        raise PluginError(
            f"algorithm {algorithm.name!r}: a choice comes without emit, has its default {choice.default!r} among its "
            f"values, and names what the algorithm requires; it names {sorted(named)}"
        )


def _check_scan(algorithm: Algorithm, scan: Scan) -> None:
    named = {scan.step, *scan.beside}
    unknown = {*scan.carried, *scan.along} - {i.name for i in algorithm.inputs}
    if algorithm.emit is not None or named != {*algorithm.requires} or unknown or not scan.along:
        raise PluginError(
            f"algorithm {algorithm.name!r}: a scan comes without emit, names what the algorithm requires, and some "
            f"of its inputs; it names {sorted(named)} and {sorted({*scan.carried, *scan.along})}"
        )
    wide = {i.name for i in algorithm.inputs if len(i.shape) != 1} & {*scan.carried, *scan.along}
    if len(algorithm.outputs) != 1 + len(scan.beside) or wide:
        raise PluginError(
            f"algorithm {algorithm.name!r}: a scan has one output, and one per algorithm beside the step; what "
            "is carried or has a row per step has one axis"
        )


def _check_result(algorithm: Algorithm) -> None:
    if not algorithm.result:
        return
    if len(algorithm.outputs) < 2:
        raise PluginError(
            f"algorithm {algorithm.name!r} has one output, so that its result {algorithm.result!r} is no tuple"
        )
    if not RESULT_NAME.fullmatch(algorithm.result) or keyword.iskeyword(algorithm.result):
        raise PluginError(
            f"algorithm {algorithm.name!r}: the result {algorithm.result!r} is no class name; use words that begin "
            "with capitals, such as 'CentreOfMass'"
        )


def _check_jacobian(algorithm: Algorithm) -> None:
    for name, declared in algorithm.jacobian.items():
        if name not in {i.name for i in algorithm.inputs} or not isinstance(declared, Jacobian):
            raise PluginError(
                f"algorithm {algorithm.name!r}: jacobian has {name!r}: {declared!r}, expected one of its inputs, and "
                "where the derivative along it stands (grid_core.plugins.Jacobian)"
            )
        if len(algorithm.outputs) != 1:
            raise PluginError(
                f"algorithm {algorithm.name!r} has several outputs, so that one Jacobian along {name!r} cannot hold "
                "their derivatives; leave it out, and the tracer finds them"
            )


def is_name(name: str, pattern: re.Pattern[str] = NAME) -> bool:
    """Tell whether generated code can carry a name."""
    taken = keyword.iskeyword(name) or name in RESERVED or re.fullmatch(r"x\d+", name)
    return bool(pattern.fullmatch(name)) and not taken


def _check_name(what: str, name: str, pattern: re.Pattern[str] = NAME) -> None:
    if not is_name(name, pattern):
        raise PluginError(
            f"{what}: the name {name!r} cannot be used in generated code; use lower case letters, digits and _"
        )


def _check_shape(algorithm: Algorithm, argument: Input | Output) -> None:
    shape: object = argument.shape
    try:
        if isinstance(shape, str) or min(resolve(argument.shape, DIMENSIONS), default=1) < 1:
            raise ValueError
    except (KeyError, ValueError, TypeError, AttributeError):
        raise PluginError(
            f"{algorithm.name}: shape {argument.shape!r} of {argument.name!r} is not understood; give a tuple of axes, "
            f"each a sum of products of positive whole numbers and {', '.join(DIMENSIONS)}, such as ('nv', '2*nv')"
        ) from None


def _check_unique(algorithm: Algorithm) -> None:
    for kind, arguments in (("input", algorithm.inputs), ("output", algorithm.outputs)):
        names = [argument.name for argument in arguments]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise PluginError(f"{algorithm.name}: {kind} {min(twice)!r} is declared twice; rename one")
    both = {i.name for i in algorithm.inputs} & {o.name for o in algorithm.outputs}
    if both:
        raise PluginError(f"{algorithm.name}: {min(both)!r} is both an input and an output; rename one")


def _check_order(algorithm: Algorithm) -> None:
    optional = ""
    for declared in algorithm.inputs:
        if declared.keyword_only:
            continue
        if optional and not declared.optional:
            raise PluginError(
                f"{algorithm.name}: input {declared.name!r} is required but follows {optional!r}, which is not; "
                "reorder them"
            )
        optional = declared.name if declared.optional else optional
