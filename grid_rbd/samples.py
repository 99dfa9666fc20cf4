"""Random arguments for any declared algorithm, to measure and compare with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grid_core.model import Model
from grid_core.plugins.algorithm import Absent, Algorithm, Input, resolve

Arguments = dict[str, NDArray[np.floating]]


def sample_arguments(algorithm: Algorithm, model: Model, batch: int, dtype: str, seed: int = 0) -> Arguments:
    """Draw arguments for a call.

    Configurations lie inside the joint limits, all else is standard normal. Arguments with a default value or a variant
    without them are left out: what is measured is the plain call.

    Parameters
    ----------
    algorithm : Algorithm
    model : Model
    batch : int
        Number of samples.
    dtype : str
    seed : int
        The same seed gives the same draws, whatever the dtype.

    Returns
    -------
    dict of str to ndarray (batch, ...)
    """
    generator = np.random.default_rng(seed)
    return {
        declared.name: _draw(declared, model, batch, generator).astype(dtype)
        for declared in algorithm.inputs
        if declared.default is None and declared.absent is not Absent.VARIANT
    }


def _draw(declared: Input, model: Model, batch: int, generator: np.random.Generator) -> NDArray[np.float64]:
    if declared.tangent == "configuration":
        return model.random(int(generator.integers(2**31)), batch)
    return generator.standard_normal((batch, *resolve(declared.shape, model.dims)))
