"""Sizes as people write them."""

from __future__ import annotations

import re

from grid_core.errors import OptionError

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT]?)B?")
_FACTORS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def size(text: str, option: str) -> int:
    """Return the bytes that ``text`` means, such as ``"500M"``.

    Raises
    ------
    OptionError
        It is no size.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise OptionError(f"{option} is {text!r}, expected a number of bytes, or one with k, M, G or T, such as 500M")
    return int(float(found[1]) * _FACTORS[found[2]])
