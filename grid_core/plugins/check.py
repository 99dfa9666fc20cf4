"""Checks a declaration before it is accepted: names that C++ and Python can carry, shapes that can be resolved."""

from __future__ import annotations

import keyword
import re

from grid_core.errors import PluginError
from grid_core.plugins.algorithm import Algorithm, Input, Output, resolve

NAME = re.compile(r"[a-z][a-z0-9_]*")
RESERVED = frozenset(
    [
        "at",
        "begin",
        "end",
        "first",
        "in",
        "in_stride",
        "lanes",
        "memory",
        "out",
        "out_stride",
        "rows",
        "self",
        "table",
        "threads",
        "unit",
        "ws",
        "auto",
        "bool",
        "break",
        "case",
        "char",
        "const",
        "do",
        "double",
        "float",
        "for",
        "if",
        "int",
        "new",
        "operator",
        "register",
        "return",
        "signed",
        "static",
        "struct",
        "switch",
        "template",
        "this",
        "throw",
        "typedef",
        "union",
        "unsigned",
        "using",
        "void",
        "while",
        "and",
        "or",
        "not",
        "xor",
        "default",
        "delete",
        "enum",
        "explicit",
        "extern",
        "friend",
        "goto",
        "inline",
        "long",
        "namespace",
        "private",
        "protected",
        "public",
        "short",
        "sizeof",
        "try",
        "typename",
        "virtual",
        "volatile",
    ]
)
"""Words that generated functions use themselves or that C++ keeps."""
DIMENSIONS = {"nq": 1, "nv": 1, "nb": 1}


def check_algorithm(algorithm: Algorithm) -> None:
    """Raise :class:`PluginError` for a declaration that cannot become code."""
    if not isinstance(algorithm, Algorithm):
        raise PluginError(f"grid_algorithms() returned {algorithm!r}; return grid_core.plugins.Algorithm objects")
    for name in (algorithm.name, *algorithm.aliases):
        _check_name(f"algorithm {algorithm.name!r}", name)
    if not algorithm.outputs:
        raise PluginError(f"algorithm {algorithm.name!r} has no outputs; declare at least one")
    arguments: list[Input | Output] = [*algorithm.inputs, *algorithm.outputs]
    for argument in arguments:
        _check_name(f"argument of {algorithm.name!r}", argument.name)
        _check_shape(algorithm, argument)
    _check_unique(algorithm)


def _check_name(what: str, name: str) -> None:
    if not NAME.fullmatch(name) or keyword.iskeyword(name) or name in RESERVED or re.fullmatch(r"x\d+", name):
        raise PluginError(
            f"{what}: the name {name!r} cannot be used in generated code; use lower case letters, digits and _"
        )


def _check_shape(algorithm: Algorithm, argument: Input | Output) -> None:
    try:
        resolve(argument.shape, DIMENSIONS)
    except (KeyError, ValueError, TypeError, AttributeError):
        raise PluginError(
            f"{algorithm.name}: shape {argument.shape!r} of {argument.name!r} is not understood; give a tuple of axes, "
            f"each a product of whole numbers and {', '.join(DIMENSIONS)}, such as ('nv', '2*nv')"
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
