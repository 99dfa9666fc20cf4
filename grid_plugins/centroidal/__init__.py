"""The centroidal family: centre of mass and centroidal momentum, energies, regressors, wrench maps."""

from __future__ import annotations

from grid_core.plugins import Algorithm, hookimpl
from grid_plugins.centroidal import energy, momentum, momentum_gradient, regressor, regressor_gradient, wrench_maps


@hookimpl
def grid_algorithms() -> tuple[Algorithm, ...]:
    return (
        *momentum.ALGORITHMS,
        *momentum_gradient.ALGORITHMS,
        *energy.ALGORITHMS,
        *regressor.ALGORITHMS,
        *regressor_gradient.ALGORITHMS,
        *wrench_maps.ALGORITHMS,
    )
