"""Text of a description or a plugin inside generated code: it must not end a comment or a literal."""

from __future__ import annotations


def comment(text: str) -> str:
    """Return text for the rest of a ``//`` line: one line, nothing that continues or re-encodes it."""
    return "".join(c if c.isprintable() and c not in "\\?" else " " for c in text).strip()


def cstring(text: str) -> str:
    """Return text as the inside of a C string literal, in octal where it is not plain ASCII."""
    plain = frozenset(range(32, 127)) - frozenset(b'"\\?')
    return "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode("utf-8"))
