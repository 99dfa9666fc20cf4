"""Outputs of operators: PyTorch has a tensor for one and a tuple for several, and what works on them has tuples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

Tensors = tuple[torch.Tensor, ...]


def several(result: Any) -> Tensors:
    """Return the outputs of an operator, also a single one, as a tuple."""
    return (result,) if isinstance(result, torch.Tensor) else tuple(result)


def single(outputs: Sequence[Any]) -> Any:
    """Return what an operator returns for its outputs."""
    return tuple(outputs) if len(outputs) > 1 else outputs[0]
