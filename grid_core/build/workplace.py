"""Where something is compiled: a temporary folder with its sources, which stays for inspection if a compiler fails."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from grid_core.errors import CompileError
from grid_core.toolchains.process import stopped
from grid_store import Scratch


@contextmanager
def workplace(purpose: str, texts: Mapping[str, str] | None = None) -> Iterator[Path]:
    """Give a temporary folder with the given files. It stays if a compiler fails of itself, not if one is stopped."""
    scratch = _written(purpose, texts or {})
    try:
        yield scratch.folder
    except CompileError:
        if stopped():
            scratch.remove()
        else:
            scratch.keep()
        raise
    except BaseException:
        scratch.remove()
        raise
    scratch.remove()


def _written(purpose: str, texts: Mapping[str, str]) -> Scratch:
    scratch = None
    try:
        scratch = Scratch(purpose)
        for name, text in texts.items():
            (scratch.folder / name).write_text(text, "utf-8")
    except OSError as error:
        if scratch:
            scratch.remove()
        raise CompileError(
            f"the sources of {purpose} cannot be written to {scratch.folder if scratch else 'a temporary folder'}: "
            f"{error}; free space there, or set TMPDIR to another folder"
        ) from error
    return scratch


def move_built(work: Path, folder: Path, names: Sequence[str]) -> None:
    """Move what was built into the store's ``folder``."""
    for name in names:
        shutil.move(str(work / name), folder / name)
