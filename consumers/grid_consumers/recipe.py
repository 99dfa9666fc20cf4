"""What a consumer project wants compiled, checked before anything else happens."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from grid_core.build.header import HEADER
from grid_core.errors import OptionError
from grid_core.model.xml_source import path_text

SUFFIXES = (".cu", ".cpp", ".cc", ".cxx")
NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
DEFINE = re.compile(r"[A-Za-z_]\w*(=.*)?", re.ASCII | re.DOTALL)
INCLUDE_OPTIONS = ("-I", "-iquote", "-isystem", "-idirafter")
OWN_OPTIONS = re.compile(r"-[cESo]|-o.*|-M.*|--?(compile|preprocess|output-file.*|generate-.*)")
"""What the build itself says to the compiler."""
WRITTEN = re.compile(r"-Map\b|-dependency-file\b|-fdump-|-ftime-trace")
"""Options whose file is written, not read."""


@dataclass(frozen=True)
class Recipe:
    """The sources of an artifact and how to compile them.

    Attributes
    ----------
    consumer, name : str
        The project, and what it calls the artifact.
    sources, headers, include_dirs : tuple of Path
        Absolute.
    defines : tuple of str
        ``NAME`` or ``NAME=VALUE``.
    extra_flags, link_flags : tuple of str
        Options for each source, and for the link.
    artifact_name : str
        File name of the library.
    """

    consumer: str
    name: str
    sources: tuple[Path, ...]
    headers: tuple[Path, ...]
    include_dirs: tuple[Path, ...]
    defines: tuple[str, ...]
    extra_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    artifact_name: str

    @property
    def is_cuda(self) -> bool:
        """Whether a source needs nvcc."""
        return any(source.suffix == ".cu" for source in self.sources)

    @property
    def named_files(self) -> tuple[Path, ...]:
        """The files that options for sources name, such as a plugin of the compiler."""
        return tuple(_named_files(self.extra_flags))

    @property
    def libraries(self) -> tuple[Path, ...]:
        """The files that the link takes: those that options name, and those that ``-L`` and ``-l`` lead to."""
        folders = [flag[2:] for flag in self.link_flags if flag.startswith("-L")]
        folders += filter(None, os.environ.get("LIBRARY_PATH", "").split(os.pathsep))
        names = [name for flag in self.link_flags if flag.startswith("-l") for name in _library_names(flag[2:])]
        searched = (Path(folder, name) for name in names for folder in folders)
        return (*_named_files(self.link_flags), *(path for path in searched if path.is_file()))


def make_recipe(
    consumer: Any,
    name: Any,
    *,
    sources: Any,
    headers: Any = (),
    include_dirs: Any = (),
    defines: Any = None,
    extra_flags: Any = (),
    link_flags: Any = (),
    artifact_name: Any = "artifact.so",
) -> Recipe:
    """Check what the caller of ``build_artifact`` gave.

    Raises
    ------
    OptionError
        A name, path, definition or option is not valid, or a file does not exist.
    """
    recipe = Recipe(
        checked_name(consumer, "consumer"),
        checked_name(name, "name"),
        _paths(sources, "sources", Path.is_file, "file"),
        _paths(headers, "headers", Path.is_file, "file"),
        _paths(include_dirs, "include_dirs", Path.is_dir, "folder"),
        _defines(defines),
        _texts(extra_flags, "extra_flags"),
        _texts(link_flags, "link_flags"),
        checked_name(artifact_name, "artifact_name"),
    )
    _check_sources(recipe.sources)
    _check_flags(recipe.extra_flags, recipe.link_flags)
    if recipe.artifact_name in (HEADER, "record.json"):
        raise OptionError(f"artifact_name is {artifact_name!r}, the name of another file there; choose 'artifact.so'")
    return recipe


def checked_name(value: Any, argument: str) -> str:
    """Return a name that is also a file name."""
    if not isinstance(value, str) or not is_name(value):
        raise OptionError(
            f"{argument} is {value!r:.80}, expected a letter or digit, then letters, digits, dots, dashes, "
            "underscores; 100 at most"
        )
    return value


def is_name(text: str) -> bool:
    """Tell whether text can be the name of a consumer, an artifact or a file."""
    return re.fullmatch(NAME, text, re.ASCII) is not None


def _check_sources(sources: tuple[Path, ...]) -> None:
    if not sources:
        raise OptionError("sources is empty; give at least one file to compile")
    names = [source.name for source in sources]
    for source in sources:
        if source.suffix not in SUFFIXES:
            raise OptionError(
                f"sources has {str(source)!r}, expected files that end in {', '.join(SUFFIXES)}; a file that is part "
                "of the identity and is not compiled goes to headers"
            )
        if names.count(source.name) > 1:
            raise OptionError(f"sources has several files called {source.name!r}; give each a name of its own")


def _named_files(flags: tuple[str, ...]) -> list[Path]:
    """Return the files that stand in options as a whole or behind ``=`` or ``,``: ``-Wl,--version-script=/x/map``."""
    read = (flag for flag in flags if not WRITTEN.search(flag))
    words = (Path(word) for flag in read for word in re.split("[=,]", flag) if word)
    return [path for path in words if path.is_file()]


def _library_names(text: str) -> tuple[str, ...]:
    """Return the files that ``-l`` with this text looks for."""
    return (text[1:],) if text.startswith(":") else (f"lib{text}.so", f"lib{text}.a")


def _check_flags(flags: tuple[str, ...], link_flags: tuple[str, ...]) -> None:
    for argument, given in (("extra_flags", flags), ("link_flags", link_flags)):
        for flag in given:
            if flag.startswith("@"):
                raise OptionError(
                    f"{argument} has {flag!r}, a file whose changes nobody would see; write out its options"
                )
            if OWN_OPTIONS.fullmatch(flag):
                raise OptionError(f"{argument} has {flag!r}, which the build sets itself; leave it out")
    for flag in flags:
        if flag.startswith(INCLUDE_OPTIONS):
            raise OptionError(f"extra_flags has {flag!r}; give the folder as an entry of include_dirs")


def _paths(value: Any, argument: str, exists: Callable[[Path], bool], kind: str) -> tuple[Path, ...]:
    paths = tuple(_path(entry, argument) for entry in _entries(value, argument, "paths"))
    for path in paths:
        if not exists(path):
            raise OptionError(f"{argument} has {str(path)!r}, but there is no such {kind}")
    return paths


def _path(value: Any, argument: str) -> Path:
    text = path_text(value)
    if not text or "\0" in text:
        raise OptionError(f"{argument} has {value!r:.80}, expected paths (str or pathlib.Path)")
    return Path(text).absolute()


def _texts(value: Any, argument: str) -> tuple[str, ...]:
    texts = _entries(value, argument, "options")
    for text in texts:
        if not isinstance(text, str) or not text or "\0" in text:
            raise OptionError(f"{argument} has {text!r:.80}, expected options of the compiler (str)")
    return tuple(texts)


def _defines(value: Any) -> tuple[str, ...]:
    given = [] if value is None else value
    if isinstance(given, Mapping):
        given = [_definition(name, v) for name, v in given.items()]
    definitions = _entries(given, "defines", "NAME or NAME=VALUE")
    for definition in definitions:
        if not isinstance(definition, str) or not DEFINE.fullmatch(definition) or "\0" in definition:
            raise OptionError(f"defines has {definition!r:.80}, expected NAME or NAME=VALUE, the name a C++ identifier")
    return tuple(definitions)


def _definition(name: Any, value: Any) -> str:
    """Return ``NAME=VALUE``; a truth value is the number that C++ takes for it."""
    if value is None:
        return str(name)
    if not isinstance(value, (str, int, Real)):
        raise OptionError(f"defines has {value!r:.80} for {name!r:.80}, expected text, a number, or None for no value")
    return f"{name}={int(value) if isinstance(value, bool) else value}"


def _entries(value: Any, argument: str, expected: str) -> list[Any]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise OptionError(f"{argument} is {value!r:.80}, expected a sequence of {expected}")
    return list(value)
