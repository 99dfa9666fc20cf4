"""SIGTERM ends a command like an interrupt does: compilers are stopped, and nothing half built stays."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class Terminated(BaseException):
    """Somebody asked this process to end."""


@contextmanager
def orderly_termination() -> Iterator[None]:
    """Raise :class:`Terminated` on SIGTERM while the block runs; a second SIGTERM ends the process at once.

    Whoever else set what SIGTERM does, or is not the main thread, keeps it.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _raise(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - as the signal module calls it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated
