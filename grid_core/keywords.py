"""Keyword arguments: a name that a function does not take gets the nearest that it takes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from grid_core.errors import KeywordError, nearest

P = ParamSpec("P")
R = TypeVar("R")


def unknown_keyword(function: str, name: str, known: Iterable[str], takes: str) -> KeywordError:
    """Return the error of a keyword argument that a function does not take; ``takes`` says what it does take."""
    return KeywordError(f"{function}() takes no argument {name!r}{nearest(name, known)}; {takes}")


def unknown_in(function: str, signature: inspect.Signature, name: str) -> KeywordError:
    """Return the error of a keyword argument that is not in the signature of a function or method."""
    public = [p for p in signature.parameters.values() if p.name != "self" and not p.name.startswith("_")]
    shown = inspect.Signature([p.replace(annotation=p.empty) for p in public])
    return unknown_keyword(function, name, [p.name for p in public], f"it is {function}{shown}")


def closed_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that raises ``KeywordError`` for keyword arguments that it does not take."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in signature.parameters:
                raise unknown_in(function.__name__, signature, name)
        return function(*args, **kwargs)

    return checked
