"""The JAX handle of a robot."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from grid_backends.frameworks import FrameworkHandle, Units
from grid_backends.frameworks.steps import Steps
from grid_backends.jax.bridge import connect
from grid_backends.jax.primitive import call
from grid_backends.jax.stamp import Stamp
from grid_backends.numpy.arguments import as_real
from grid_backends.numpy.record import RobotRecord
from grid_backends.numpy.signature import Signature
from grid_core.errors import ArgumentError, OptionError
from grid_core.keywords import closed_keywords

Arrays = tuple[Any, ...]


class JaxRobotHandle(FrameworkHandle):
    """A robot whose algorithms are methods on JAX arrays, inside ``jit``, ``vmap``, ``grad``, ``jvp`` and ``scan`` too.

    A compiled function keeps the run-time parameters that the handle had when it was traced; after they were changed it
    fails when it is called. Parameters that are passed as arguments may change from call to call, and have derivatives.
    """

    framework = "jax"
    xp = jnp

    def __init__(self, record: RobotRecord, units: Units) -> None:
        if record.dtype == "float64" and not jax.config.jax_enable_x64:
            raise OptionError(
                f"robot {record.name!r}: dtype='float64' needs 64-bit types, which JAX leaves out by default; call "
                "jax.config.update('jax_enable_x64', True) first"
            )
        connect(units.store)
        self._type = np.dtype(record.dtype)
        super().__init__(record, units)
        self._stamp = Stamp(record.name)
        self._parameters.watch(self._expire)

    def _expire(self) -> None:
        self._stamp.expire()
        self._stamp = Stamp(self.name)

    def _array(self, value: Any, method: str, argument: str) -> Any:
        if isinstance(value, jax.Array) and value.dtype == self._type:
            return value
        what = f"{method}: argument {argument!r}"
        if not isinstance(value, jax.Array):
            return np.asarray(as_real(value, what, self._type), self._type)
        if not (jnp.issubdtype(value.dtype, jnp.floating) or jnp.issubdtype(value.dtype, jnp.integer)):
            raise ArgumentError(f"{what} has dtype {value.dtype}, expected {self._type} or another real dtype")
        return value.astype(self._type)

    def _numbers(self, flat: list[float], shape: tuple[int, ...]) -> Any:
        return np.array(flat, self._type).reshape(shape)

    def _is_tracked(self, value: Any) -> bool:
        return isinstance(value, jax.core.Tracer)

    def _called(self, signature: Signature, values: Arrays) -> Arrays:
        given, arrays = self._given(signature, values)
        is_own = any(array is table for array in arrays for table in self._tables.values())
        stamp = self._stamp if is_own else None
        return tuple(call(self._operation(signature.name, given), arrays, stamp))

    def _repeat(self, steps: Steps) -> Arrays:
        def step(state: Any, rows: dict[str, Any]) -> tuple[Any, Arrays]:
            results = steps.advance(state, rows)
            return results[0], results

        start = steps.start()
        _, results = jax.lax.scan(step, start, steps.rows(), steps.count)
        return steps.finished(start, results)

    def neutral(self) -> jax.Array:
        """Return the neutral configuration, shape (nq,): zeros and identity quaternions."""
        return jnp.asarray(super().neutral())

    @closed_keywords
    def random(self, seed: int, n: int) -> jax.Array:
        """Return ``n`` reproducible configurations inside the joint limits, shape (n, nq)."""
        return jnp.asarray(super().random(seed, n))
