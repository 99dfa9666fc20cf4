"""What handles of frameworks do not have although the NumPy handle does: why, and what to use instead."""

from __future__ import annotations

from collections.abc import Mapping

from grid_backends.numpy.unavailable import GPU_ONLY, UNAVAILABLE

LAYOUT = "a framework lays its arrays out as it likes; only the default, 'batch_first', has a meaning"

IN_FRAMEWORKS: Mapping[str, str] = {
    **UNAVAILABLE,
    **dict.fromkeys(
        GPU_ONLY,
        "frameworks own the memory and the streams of their arrays, and launches are chosen by batch size; a handle "
        "with backend='numpy' on the same build has these settings",
    ),
}
"""Attributes that handles of frameworks do not have, and the reason."""
