"""Arguments that a function does not take: a name gets the nearest that it takes, and its signature is shown."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from grid_core.errors import CallError, KeywordError, nearest

P = ParamSpec("P")
R = TypeVar("R")


def unknown_keyword(function: str, name: str, known: Iterable[str], takes: str) -> KeywordError:
    """Return the error of a keyword argument that a function does not take; ``takes`` says what it does take."""
    return KeywordError(f"{function}() takes no argument {name!r}{nearest(name, known)}; {takes}")


def unknown_in(function: str, signature: inspect.Signature, name: str) -> KeywordError:
    """Return the error of a keyword argument that is not in the signature of a function or method."""
    public = _public(signature)
    return unknown_keyword(function, name, [p.name for p in public], f"it is {_shown(function, public)}")


def too_many(function: str, signature: inspect.Signature, more: int) -> CallError:
    """Return the error of a call with ``more`` positional arguments than a function or method takes."""
    public = _public(signature)
    taken = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in public)
    return CallError(
        f"{function}() takes {taken} positional argument{'s' * (taken != 1)}, and {taken + more} are given; "
        f"it is {_shown(function, public)}"
    )


def _public(signature: inspect.Signature) -> list[inspect.Parameter]:
    return [p for p in signature.parameters.values() if p.name != "self" and not p.name.startswith("_")]


def _shown(function: str, public: Iterable[inspect.Parameter]) -> str:
    return f"{function}{inspect.Signature([p.replace(annotation=p.empty) for p in public])}"


def closed_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that raises ``KeywordError`` or ``CallError`` for arguments that it does not take."""
    signature = inspect.signature(function)
    positional = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in signature.parameters.values())

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in signature.parameters:
                raise unknown_in(function.__name__, signature, name)
        if len(args) > positional:
            raise too_many(function.__name__, signature, len(args) - positional)
        return function(*args, **kwargs)

    return checked
