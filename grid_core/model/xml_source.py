"""From a path, text or bytes to a parsed document, refusing everything that XML can do to a program.

No entity is expanded, no document type accepted, no network or file reached; size and depth are bounded.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

from grid_core.errors import ArgumentError, DescriptionNotFoundError, URDFParseError

MAX_BYTES = 32 * 2**20
"""Largest accepted description; geometry lives in mesh files, so that real ones stay far below."""

_PROLOG = 200
"""Bytes in which an XML declaration ends."""
_DECLARED = re.compile(r"""\s*<\?xml\b[^>]*?(?P<clause>\s+encoding\s*=\s*(["'])(?P<encoding>[\w.-]*)\2)""")


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
    """

    data: bytes
    label: str
    skipped_lines: int = 0


@dataclass(frozen=True)
class Document:
    """A parsed document and where it came from."""

    root: Any
    source: Source

    def line(self, element: Any) -> int:
        """Line of an element's tag in the source as the user sees it."""
        return int(element.sourceline) + self.source.skipped_lines


def read_source(source: str | os.PathLike[str] | bytes | Source) -> Source:
    """Read a description: a path, XML text (a ``str`` that starts with ``<``), or the bytes of a file.

    What was read before is returned as it is, so that a caller can hash exactly what will be parsed.

    Raises
    ------
    URDFParseError
        The description is larger than ``MAX_BYTES``, or the path is not that of a readable, regular file.
    DescriptionNotFoundError
        There is no such file; also a FileNotFoundError.
    ArgumentError
        The source is none of these.
    """
    if isinstance(source, Source):
        return source
    if isinstance(source, bytes):
        return _trimmed(source, "<bytes>")
    if isinstance(source, str) and is_markup(source):
        return _trimmed(_encoded(source), "<string>")
    path = path_text(source)
    if path is None:
        raise ArgumentError(f"the description is {source!r:.80}, expected the path of a URDF file, XML text or bytes")
    return read_file(path)


def is_markup(text: str) -> bool:
    """Whether a text is XML rather than a path."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def path_text(value: object) -> str | None:
    """Return a path as text, ``None`` for what is no path."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    return text if isinstance(text, str) else None


def read_file(path: str) -> Source:
    """Read a description from a regular file; what could block or never end, such as a FIFO, is not opened.

    Raises
    ------
    URDFParseError
        The path is not that of a readable, regular file, or the file is larger than ``MAX_BYTES``.
    DescriptionNotFoundError
        There is no such file; also a FileNotFoundError.
    """
    if not path:
        raise URDFParseError("the path of the description is empty; give the path of a URDF file")
    if "\0" in path:
        raise URDFParseError(f"{path!r:.80}: a path has no NUL character; give the path of a URDF file")
    try:
        status = Path(path).stat()
        _check_kind(status.st_mode, path)
        _check_size(status.st_size, path)
        with Path(path).open("rb") as file:
            return _trimmed(file.read(MAX_BYTES + 1), path)
    except (OSError, UnicodeEncodeError) as error:
        if isinstance(error, FileNotFoundError) or is_markup(path):
            raise DescriptionNotFoundError(_missing_message(path)) from error
        problem = getattr(error, "strerror", None) or str(error)
        raise URDFParseError(f"{path!r:.200}: cannot be read: {problem}; give the path of a readable file") from error


def _missing_message(path: str) -> str:
    if is_markup(path):
        return f"{path[:60]!r} looks like XML text, expected the path of a URDF file; pass the text as urdf_string"
    return f"{path}: there is no such file; give the path of a URDF file"


def _check_kind(mode: int, path: str) -> None:
    if stat.S_ISDIR(mode):
        raise URDFParseError(f"{path}: is a directory, expected a URDF file; give the path of a file in it")
    if not stat.S_ISREG(mode):
        kind = "FIFO" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
        raise URDFParseError(
            f"{path}: is a {kind}, expected a regular file; read it yourself and pass the text instead of the path"
        )


def _encoded(text: str) -> bytes:
    """Return text in UTF-8; an encoding that it declares for its file no longer holds and is left out."""
    text = text.lstrip("\ufeff")
    declared = _DECLARED.match(text)
    if declared and not _is_utf8(declared["encoding"]):
        text = text[: declared.start("clause")] + text[declared.end("clause") :]
    return text.encode("utf-8", "surrogatepass")


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("-", "") == "utf8"


def _trimmed(data: bytes, label: str) -> Source:
    _check_size(len(data), label)
    kept = data.lstrip(b" \t\r\n")
    return Source(kept, label, data[: len(data) - len(kept)].count(b"\n"))


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
    _check_encoding(source)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(source.data, parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        raise URDFParseError(_syntax_message(source, line, column, error.msg)) from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise URDFParseError(_document_type_message(source, None))
    return Document(root, source)


def _check_encoding(source: Source) -> None:
    """Refuse bytes that are not UTF-8 unless they say, or begin with a mark of, another encoding."""
    if source.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in source.data[:4]:
        return
    declared = _DECLARED.match(source.data[:_PROLOG].decode("ascii", "replace"))
    if declared and not _is_utf8(declared["encoding"]):
        return
    try:
        source.data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source.data.count(b"\n", 0, error.start) + 1 + source.skipped_lines
        column = error.start - source.data.rfind(b"\n", 0, error.start)
        raise URDFParseError(
            f"{source.label}:{line}:{column}: the description is not well-formed XML: the byte "
            f"0x{source.data[error.start]:02x} is not UTF-8, which holds unless another encoding is declared; save the "
            "text as UTF-8, or begin it with <?xml version='1.0' encoding='ISO-8859-1'?> or what it is in"
        ) from None


def _syntax_message(source: Source, line: int, column: int, problem: str) -> str:
    problem = problem.rpartition(", line ")[0].strip() or problem
    advice = "correct the text at this line and column"
    if "Excessive depth" in problem:
        problem = "elements are nested more than 256 deep"
    elif "encoding" in problem.lower():
        advice = "save the text as UTF-8, or declare the encoding that it is in"
    place = f"{source.label}:{line + source.skipped_lines}:{column}"
    return f"{place}: the description is not well-formed XML: {problem}; {advice}"


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
    reader = expat.ParserCreate()
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
