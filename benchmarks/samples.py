"""Arguments of dynamics algorithms, the same ones for every contestant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def samples(nq: int, nv: int, batch: int, floating: bool) -> tuple[NDArray[np.float32], ...]:
    """Return q, qd and a third vector (acceleration or force), shapes (batch, nq), (batch, nv), (batch, nv)."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-1, 1, (batch, nq))
    if floating:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return tuple(a.astype(np.float32) for a in (q, rng.uniform(-1, 1, (batch, nv)), rng.uniform(-1, 1, (batch, nv))))
