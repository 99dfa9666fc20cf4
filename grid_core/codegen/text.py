"""Text of a description or a plugin inside generated code: it must not end a comment or a literal."""

from __future__ import annotations

from collections.abc import Iterable


def comment(text: str) -> str:
    """Return text for the rest of a ``//`` line: one line, nothing that continues or re-encodes it."""
    return "".join(c if c.isprintable() and c not in "\\?" else " " for c in text).strip()


def cstring(text: str) -> str:
    """Return text as the inside of a C string literal, in octal where it is not plain ASCII."""
    plain = frozenset(range(32, 127)) - frozenset(b'"\\?')
    return "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode("utf-8"))


def quoted(text: str) -> str:
    """Return what :func:`cstring` made as a literal."""
    return f'"{text}"'


def smallest_integer(values: Iterable[int]) -> str:
    """Return the narrowest of the C types that tables have here."""
    values = [*values]
    least, most = min(values, default=0), max(values, default=0)
    if least >= -(2**15) and most < 2**15:
        return "short"
    return "unsigned short" if least >= 0 and most < 2**16 else "int"
