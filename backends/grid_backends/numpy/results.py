"""Named tuples for algorithms with several outputs."""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any


@cache
def result_type(name: str, fields: tuple[str, ...]) -> type[tuple[Any, ...]]:
    """Return the named tuple class of an algorithm's outputs, the same object for the same arguments.

    Its instances can be pickled although no module holds the class.
    """
    base = namedtuple(name, fields)  # type: ignore[misc]  # noqa: PYI024
    body = {
        "__slots__": (),
        "__module__": __name__,
        "__reduce__": lambda self: (restore, (name, fields, tuple(self))),
    }
    return type(name, (base,), body)


def restore(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Rebuild a pickled result."""
    return result_type(name, fields)(*values)
