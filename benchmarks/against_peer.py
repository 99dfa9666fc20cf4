"""The times of two contestants that made the same calls, as measurements: one of each, and their ratio."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks.calls import Times
from benchmarks.report import Measurement


def cells(prefix: str, kind: str, own: Times, peer: Times) -> Iterator[Measurement]:
    """Yield the times of every call and batch, those of the peer if there are any, and how many times ours they are.

    Parameters
    ----------
    prefix : str
        Beginning of the names.
    kind : str
        What was timed, ``device`` or ``host``: part of the metrics.
    """
    say_refused(prefix, own, peer)
    for call, times in own.microseconds.items():
        theirs = peer.microseconds.get(call, {})
        for batch, microseconds in times.items():
            cell = f"{prefix}.{call}.batch{batch}"
            yield Measurement(cell, f"{kind}_us", microseconds)
            if batch in theirs:
                yield Measurement(cell, f"peer_{kind}_us", theirs[batch])
                yield Measurement(cell, RATIOS[kind], theirs[batch] / microseconds)


RATIOS = {"device": "speedup", "host": "host_speedup"}
"""Metrics of the ratios."""


def say_refused(prefix: str, own: Times, peer: Times) -> None:
    """Print which calls have no times, and why."""
    for side, times in {"": own, "peer: ": peer}.items():
        for call, reason in times.refused.items():
            print(f"{prefix}.{call}: {side}{reason}", file=sys.stderr)
