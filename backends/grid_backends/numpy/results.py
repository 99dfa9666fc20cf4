"""Named tuples for algorithms with several outputs."""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any


@cache
def result_type(algorithm: str, fields: tuple[str, ...]) -> type[tuple[Any, ...]]:
    """Return the named tuple class of an algorithm's outputs, the same object for the same arguments.

    Its instances can be pickled although no module holds the class.
    """
    name = "".join(word.capitalize() for word in algorithm.split("_"))
    base = namedtuple(name, fields)  # type: ignore[misc]  # noqa: PYI024
    body = {
        "__slots__": (),
        "__module__": __name__,
        "__reduce__": lambda self: (restore, (algorithm, fields, tuple(self))),
    }
    return type(name, (base,), body)


def restore(algorithm: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Rebuild a pickled result."""
    return result_type(algorithm, fields)(*values)
