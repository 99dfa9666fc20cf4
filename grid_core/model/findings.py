"""What the loader has to say about a description: errors, warnings and notes with their place."""

from __future__ import annotations

import inspect
import logging
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from grid_core.errors import URDFParseError

LOGGER = logging.getLogger("grid_rbd.model")


class URDFWarning(UserWarning):
    """Something in a description is unusual, assumed or ignored.

    ``warnings.simplefilter("error", URDFWarning)`` is the strict mode.
    """


class Level(Enum):
    """How a finding is reported."""

    ERROR = "error"
    """The description is refused."""
    WARNING = "warning"
    """A :class:`URDFWarning`."""
    NOTE = "note"
    """A line of the ``grid_rbd.model`` logger at level INFO."""


@dataclass(frozen=True)
class Finding:
    """One rule that a description meets in an unusual way or breaks.

    Parameters
    ----------
    level : Level
        How it is reported.
    item : str
        The element, e.g. ``"joint 'elbow'"``.
    message : str
        Rule, value and fix; ``{value}`` stands for the value.
    line : int or None
        Line in the source, where one line can be named.
    error : type
        The exception of an error.
    value : str
        What stands for ``{value}`` in the message.
    rule : str
        Warnings of one rule become one; default: the message.
    """

    level: Level
    item: str
    message: str
    line: int | None = None
    error: type[URDFParseError] = URDFParseError
    value: str = ""
    rule: str = ""

    def text(self, label: str) -> str:
        """``label:line: item: message``."""
        place = label if self.line is None else f"{label}:{self.line}"
        return f"{place}: {self.item}: {self.message.replace('{value}', self.value)}"

    def mention(self) -> str:
        """Item, value and line, for a place in the warning about another item."""
        known = [self.value] if self.value else []
        known += [] if self.line is None else [f"line {self.line}"]
        return f"{self.item} ({', '.join(known)})" if known else self.item


MENTIONED = 20
"""Most items that a warning names."""


def listed(items: Sequence[str], most: int = 8) -> str:
    """The first items, comma separated, and how many more there are."""
    rest = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + rest


_OWN_PACKAGES = frozenset({"grid_rbd", "grid_consumers", "grid_backends", "grid_plugins", "grid_core", "grid_store"})


def user_level() -> int:
    """Return the ``stacklevel``, seen from the caller, of the first frame that is not the project's own."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _OWN_PACKAGES:
        frame, level = frame.f_back, level + 1
    return level


def report(findings: Iterable[Finding], label: str) -> None:
    """Log notes, warn warnings (at the user's call), then raise one exception that lists every error.

    Items that meet one rule share a warning.

    Raises
    ------
    URDFParseError
        Of the class of the first error.
    """
    errors: list[Finding] = []
    warned: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.level is Level.ERROR:
            errors.append(finding)
        elif finding.level is Level.WARNING:
            warned.setdefault(finding.rule or finding.message, []).append(finding)
        else:
            LOGGER.info("%s", finding.text(label))
    for first, *others in warned.values():
        also = f" (also {listed([other.mention() for other in others], MENTIONED)})" if others else ""
        warnings.warn(f"{first.text(label)}{also}", URDFWarning, stacklevel=user_level())
    if errors:
        raise errors[0].error("\n".join(error.text(label) for error in errors))
