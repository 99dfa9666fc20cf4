"""Keyword arguments of the public functions: a name that a function does not take gets the nearest that it takes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from grid_core.keywords import unknown_keyword

P = ParamSpec("P")
R = TypeVar("R")


def checked_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Return a public function that raises ``KeywordError`` for keyword arguments that it does not take.

    Those that are collected under ``**`` are the options of :func:`~grid_rbd.register_robot`.
    """
    parameters = inspect.signature(function).parameters
    own = tuple(name for name, parameter in parameters.items() if parameter.kind is not parameter.VAR_KEYWORD)
    is_open = len(own) < len(parameters)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name in own or (is_open and name in registering_options()):
                continue
            known = [n for n in dict.fromkeys((*own, *(registering_options() if is_open else ()))) if n[0] != "_"]
            raise unknown_keyword(function.__name__, name, known, f"it takes {', '.join(known)}")
        return function(*args, **kwargs)

    return checked


def check_registering(options: Iterable[str]) -> None:
    """Raise ``KeywordError`` for an option that :func:`~grid_rbd.register_robot` does not take."""
    known = registering_options()
    for name in options:
        if name not in known:
            public = [n for n in known if n[0] != "_"]
            raise unknown_keyword("register_robot", name, public, f"it takes {', '.join(public)}")


@functools.cache
def registering_options() -> tuple[str, ...]:
    """Return the names of what :func:`~grid_rbd.register_robot` takes."""
    from grid_rbd.registering import register_robot  # which is itself made with what is here

    return tuple(inspect.signature(register_robot).parameters)
