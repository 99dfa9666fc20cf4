"""Attributes of handles: which can be set, and what is said of names that there are not."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from grid_backends.errors import NotAvailableError, ReadOnlyError, UnknownMethodError
from grid_core.errors import nearest
from grid_core.keywords import too_many, unknown_in


class GuardedAttributes:
    """Refuses attributes that nobody declared, since most of them are typos."""

    _unavailable: Mapping[str, str]
    """Why other front-ends have what this one has not, by name."""

    @property
    def name(self) -> str:
        """The name of the robot."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if hasattr(type(self), name):
            return getattr(type(self), name).__get__(self)  # a property that this robot has not, which says why
        raise self._no_attribute(name, "method or attribute", dir(self))

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            self._check_settable(name, getattr(type(self), name, None))
        super().__setattr__(name, value)

    def _check_settable(self, name: str, found: Any) -> None:
        if getattr(found, "fset", None):
            return
        kind = type(self)
        settable = [n for n in dir(kind) if getattr(getattr(kind, n), "fset", None)]
        if found is None:
            raise self._no_attribute(name, "attribute", settable, f"; {', '.join(settable)} can be set")
        if isinstance(found, property):
            raise ReadOnlyError(f"robot {self.name!r}: {name!r} can only be read; {', '.join(settable)} can be set")

    def _no_attribute(self, name: str, what: str, known: Iterable[str], more: str = "") -> AttributeError:
        if name in self._unavailable:
            return NotAvailableError(f"robot {self.name!r} has no {name!r}: {self._unavailable[name]}")
        public = {*(n for n in known if not n.startswith("_")), *self._unavailable}
        return UnknownMethodError(f"robot {self.name!r} has no {what} {name!r}{nearest(name, public)}{more}")

    def _refuse_call(self, method: str, more: Sequence[Any], unknown: Mapping[str, Any]) -> NoReturn:
        """Raise for arguments that a method does not take, with its signature."""
        signature = inspect.signature(getattr(self, method))
        raise unknown_in(method, signature, next(iter(unknown))) if unknown else too_many(method, signature, len(more))
