"""What the files of a compilation are called in keys, so that projects that lie elsewhere share what was built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grid_core.build.header import HEADER
from grid_store import Entry
from grid_store.digest import file_digest


@dataclass(frozen=True)
class Places:
    """Where the sources of an artifact find files.

    Attributes
    ----------
    header : Entry
        The entry with the generated header.
    include_dirs : tuple of Path
        Folders that are searched, in order.
    """

    header: Entry
    include_dirs: tuple[Path, ...]

    @property
    def options(self) -> list[str]:
        """The options with which a compiler searches there, the generated header first."""
        return [f"-I{folder}" for folder in (self.header.directory, *self.include_dirs)]

    def labelled(self, source: Path, files: Iterable[Path]) -> dict[str, Path]:
        """Return what compiling ``source`` reads, by label.

        Labels are ``grid.hpp``; ``include/0/...`` below a folder that is searched; ``source/...`` below that of the
        source; and the path for everything else, such as the headers of the system.
        """
        return {self._label(file, source.parent): file for file in files}

    def _label(self, file: Path, beside: Path) -> str:
        if file == self.header.directory / HEADER:
            return HEADER
        folders = {f"include/{number}": folder for number, folder in enumerate(self.include_dirs)}
        for label, folder in (*folders.items(), ("source", beside)):
            if file.is_relative_to(folder):
                return f"{label}/{file.relative_to(folder).as_posix()}"
        return file.as_posix()


def digests_of_own(labelled: Mapping[str, Path]) -> dict[str, str]:
    """Return the digests of the project's own files by label."""
    return {label: file_digest(path) for label, path in labelled.items() if is_own(label)}


def is_own(label: str) -> bool:
    """Tell whether a file is the project's, or the generated header."""
    return not label.startswith("/")


def asks_what_exists(file: Path) -> bool:
    """Tell whether what a file means may depend on files that are not read."""
    return b"__has_include" in file.read_bytes()
