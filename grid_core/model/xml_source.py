"""From a path, text or bytes to a parsed document, refusing everything that XML can do to a program.

No entity is expanded, no document type accepted, no network or file reached; size and depth are bounded.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

from grid_core.errors import URDFParseError

MAX_BYTES = 32 * 2**20
"""Largest accepted description; geometry lives in mesh files, so that real ones stay far below."""


@dataclass(frozen=True)
class Source:
    """The bytes of a description without leading blanks.

    Parameters
    ----------
    data : bytes
        What is parsed.
    label : str
        How messages name the source.
    skipped_lines : int
        Blank lines in front of ``data``.
    encoding : str or None
        Set where it is known from outside: a declaration inside text that is already decoded no longer holds.
    """

    data: bytes
    label: str
    skipped_lines: int = 0
    encoding: str | None = None


@dataclass(frozen=True)
class Document:
    """A parsed document and where it came from."""

    root: Any
    source: Source

    def line(self, element: Any) -> int:
        """Line of an element's tag in the source as the user sees it."""
        return int(element.sourceline) + self.source.skipped_lines


def read_source(source: str | Path | bytes | Source) -> Source:
    """Read a description: a path, XML text (a ``str`` that starts with ``<``), or the bytes of a file.

    What was read before is returned as it is, so that a caller can hash exactly what will be parsed.

    Raises
    ------
    URDFParseError
        The description is larger than ``MAX_BYTES``.
    FileNotFoundError
        There is no such file.
    """
    if isinstance(source, Source):
        return source
    if isinstance(source, bytes):
        return _trimmed(source, "<bytes>")
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return _trimmed(source.lstrip("\ufeff").encode("utf-8", "surrogatepass"), "<string>", "utf-8")
    path = Path(source)
    _check_size(path.stat().st_size, str(path))
    return _trimmed(path.read_bytes(), str(path))


def _trimmed(data: bytes, label: str, encoding: str | None = None) -> Source:
    _check_size(len(data), label)
    kept = data.lstrip(b" \t\r\n")
    return Source(kept, label, data[: len(data) - len(kept)].count(b"\n"), encoding)


def _check_size(size: int, label: str) -> None:
    if size > MAX_BYTES:
        raise URDFParseError(
            f"{label}: the description has {size} bytes, at most {MAX_BYTES} are read; move geometry into mesh files"
        )


def parse(source: Source) -> Document:
    """Parse a description with everything dangerous switched off.

    Raises
    ------
    URDFParseError
        The text is not well-formed, nested too deeply, or declares a document type; with line and column.
    """
    from lxml import etree

    _refuse_document_type(source)
    parser = etree.XMLParser(
        encoding=source.encoding, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        root = etree.fromstring(source.data, parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        raise URDFParseError(_syntax_message(source, line, column, error.msg)) from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise URDFParseError(_document_type_message(source, None))
    return Document(root, source)


def _syntax_message(source: Source, line: int, column: int, problem: str) -> str:
    problem = problem.rpartition(", line ")[0].strip() or problem
    if "Excessive depth" in problem:
        problem = "elements are nested more than 256 deep"
    place = f"{source.label}:{line + source.skipped_lines}:{column}"
    return f"{place}: the description is not well-formed XML: {problem}; correct the text at this line and column"


def _document_type_message(source: Source, line: int | None) -> str:
    place = source.label if line is None else f"{source.label}:{line + source.skipped_lines}"
    return (
        f"{place}: document types and entities are refused, because expanding them can exhaust memory or read other "
        "files; remove the <!DOCTYPE ...> and write the values out"
    )


class _PrologReadError(Exception):
    """Stops the reader: what it was to find out is known."""


def _refuse_document_type(source: Source) -> None:
    """Read the prolog only, so that no entity is ever declared, let alone expanded."""
    reader = expat.ParserCreate(source.encoding)
    declared: list[int] = []

    def declare(*_: object) -> None:
        declared.append(reader.CurrentLineNumber)
        raise _PrologReadError

    def stop(*_: object) -> None:
        raise _PrologReadError

    reader.StartDoctypeDeclHandler = declare
    reader.StartElementHandler = stop
    # What is wrong with the text, if anything, is for the full parser to say.
    with contextlib.suppress(_PrologReadError, expat.ExpatError, LookupError, ValueError):
        reader.Parse(source.data, True)
    if declared:
        raise URDFParseError(_document_type_message(source, declared[0]))
