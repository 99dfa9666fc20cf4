"""Calls that may hang, with an end: what a network does is not in our hands."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from grid_store.errors import TierUnavailableError

T = TypeVar("T")

NOTICE = 5.0
"""Seconds after which it is said who is waited for."""


def in_time(call: Callable[[], T], seconds: float, on_notice: Callable[[], None]) -> T:
    """Return what ``call`` returns, or raise what it raises.

    It runs in a thread of its own. One that hangs is left behind and does not keep the process from ending.

    Parameters
    ----------
    on_notice : callable
        Called after :data:`NOTICE` seconds if there is still time.

    Raises
    ------
    TierUnavailableError
        It took longer than ``seconds``.
    """
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
            failures.append(error)

    thread = threading.Thread(target=run, name="grid-store-tier", daemon=True)
    thread.start()
    thread.join(min(NOTICE, seconds))
    if thread.is_alive() and seconds > NOTICE:
        on_notice()
        thread.join(seconds - NOTICE)
    if failures:
        raise failures[0]
    if not results:
        raise TierUnavailableError(f"it has not answered for {seconds:g} s")
    return results[0]
