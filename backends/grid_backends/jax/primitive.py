"""Operations as a primitive of JAX: shapes, lowering to a custom call, derivatives both ways, and batches of vmap."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.dispatch import prim_requires_devices_during_lowering
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding, PartitionSpec

from grid_backends.frameworks.batches import aligned, batch_of, common_batch, mapped_shapes
from grid_backends.frameworks.operation import Operation
from grid_backends.jax.bridge import TARGET
from grid_backends.jax.sharding import partitioned
from grid_backends.jax.stamp import Stamp
from grid_core.errors import ArgumentError

Arrays = Sequence[Any]

operation_p = Primitive("grid_rbd")
operation_p.multiple_results = True


def call(operation: Operation, arrays: Arrays, stamp: Stamp | None = None) -> list[Any]:
    """Return the outputs of an operation; a stamp says that some arrays are the parameters of a handle."""
    return list(operation_p.bind(*_varying_alike(arrays), operation=operation, stamp=stamp))


def _varying_alike(arrays: Arrays) -> Arrays:
    """Return arrays that vary along the same axes of a mesh inside ``jax.shard_map``: those of all together."""
    own = [jax.typeof(array).manual_axis_type.varying for array in arrays]
    every = frozenset().union(*own)
    return [
        jax.lax.pcast(array, tuple(sorted(every - axes)), to="varying") if axes != every else array
        for array, axes in zip(arrays, own)
    ]


@partial(jax.jit, static_argnums=(0, 1))
def _compiled(operation: Operation, stamp: Stamp | None, *arrays: Any) -> list[Any]:
    return call(operation, arrays, stamp)


@operation_p.def_impl  # type: ignore[untyped-decorator]
def _evaluate(*arrays: Any, operation: Operation, stamp: Stamp | None) -> list[Any]:
    with jax.disable_jit(False):  # to evaluate is to compile: there is no other way to run a custom call
        return list(_compiled(operation, stamp, *arrays))


@operation_p.def_abstract_eval  # type: ignore[untyped-decorator]
def _shapes(*avals: Any, operation: Operation, stamp: Stamp | None) -> list[Any]:  # noqa: ARG001
    dtype = operation.signature.dtype
    for name, aval in zip(operation.given, avals):
        if aval.dtype != dtype:
            raise ArgumentError(
                f"{operation.name}: {name!r} has dtype {aval.dtype}, expected {dtype}, that of the build; a float64 "
                "build needs jax.config.update('jax_enable_x64', True)"
            )
    batch, spec = _batch_of_all(operation, avals)
    mesh, varying = avals[0].sharding.mesh, avals[0].manual_axis_type
    return [
        jax.core.ShapedArray(
            (*batch, *o.shape),
            dtype,
            sharding=NamedSharding(mesh, PartitionSpec(*spec, *[None] * len(o.shape))),
            manual_axis_type=varying,
        )
        for o in operation.outputs
    ]


def _batch_of_all(operation: Operation, avals: Sequence[Any]) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Return the batch axes of a call, and the axes of a mesh that they are divided along."""
    for aval, axes in zip(avals, operation.axes):
        if aval.ndim > axes:
            batch = aval.ndim - axes
            return aval.shape[:batch], tuple(aval.sharding.spec[:batch])
    return (), ()


def _lowered(*arrays: Any, operation: Operation, stamp: Stamp | None) -> Any:
    key = _published(operation) if stamp is None else _publish(operation, stamp.key(operation.key))
    axes = tuple(a.ndim - n for a, n in zip(arrays, operation.axes))
    return partitioned(partial(_custom_call, operation, key), operation, axes)(*arrays)


def _custom_call(operation: Operation, key: str, *arrays: Any) -> Any:
    batch = common_batch(operation.arguments, [a.shape for a in arrays])
    results = [jax.ShapeDtypeStruct((*batch, *o.shape), operation.signature.dtype) for o in operation.outputs]
    return jax.ffi.ffi_call(TARGET, results)(*arrays, key=key, threads=np.int64(operation.threads))


mlir.register_lowering(operation_p, mlir.lower_fun(_lowered, multiple_results=True))


@cache
def _published(operation: Operation) -> str:
    return _publish(operation, operation.key)


def _publish(operation: Operation, key: str) -> str:
    from grid_backends.native import publish

    publish(key, operation.function, operation.places)
    return key


def _rates(primals: Arrays, tangents: Arrays, *, operation: Operation, stamp: Stamp | None) -> Any:
    given = {n: t for n, t in zip(operation.given, tangents) if not isinstance(t, ad.Zero)}
    values = call(operation, primals, stamp)
    if not given:
        return values, [ad.Zero.from_primal_value(value) for value in values]
    derived = operation.rates(tuple(given))
    known = dict(zip(operation.given, primals))
    rates = call(derived.operation, [*(known[name] for name in derived.kept), *given.values()], stamp)
    return values, [rates[at] for at in derived.picked]


def _slopes(cotangents: Arrays, *arrays: Any, operation: Operation, stamp: Stamp | None) -> Any:
    """Transpose a product in the factors that it is linear in."""
    known = dict(zip(operation.given, arrays))
    moving = tuple(name for name, array in known.items() if ad.is_undefined_primal(array))
    given = {o.name: c for o, c in zip(operation.outputs, cotangents) if not isinstance(c, ad.Zero)}
    if not given:
        return [ad.Zero(a.aval) if ad.is_undefined_primal(a) else None for a in arrays]
    derived = operation.slopes(moving, tuple(given))
    results = call(derived.operation, [*(known[name] for name in derived.kept), *given.values()], stamp)
    found = {name: results[at] for name, at in zip(moving, derived.picked)}
    return [
        _shared(found[argument.name], known[argument.name].aval.shape, argument) if argument.name in found else None
        for argument in operation.arguments
    ]


def _shared(slope: Any, shape: tuple[int, ...], argument: Any) -> Any:
    """Return the slope along an argument, which is a sum if all samples share it."""
    if batch_of(shape, argument):
        return slope
    return slope.sum(tuple(range(slope.ndim - len(argument.shape))))


def _mapped(arrays: Arrays, dims: Sequence[Any], *, operation: Operation, stamp: Stamp | None) -> Any:
    """Make the mapped axis one more batch axis of a single call."""
    flags = [d is not None for d in dims]
    moved = [jnp.moveaxis(a, d, 0) if is_mapped else a for a, d, is_mapped in zip(arrays, dims, flags)]
    size = next(a.shape[0] for a, is_mapped in zip(moved, flags) if is_mapped)
    shapes = [a.shape[1:] if is_mapped else a.shape for a, is_mapped in zip(moved, flags)]
    targets = mapped_shapes(operation.arguments, shapes, flags, size)
    spread = [
        a if target is None else jnp.broadcast_to(jnp.reshape(a, aligned(a.shape, target, is_mapped)), target)
        for a, target, is_mapped in zip(moved, targets, flags)
    ]
    results = call(operation, spread, stamp)
    return results, [0] * len(results)


# Lowering asks for the devices, to divide the work among them; JAX has no public name for this set.
prim_requires_devices_during_lowering.add(operation_p)
ad.primitive_jvps[operation_p] = _rates
ad.primitive_transposes[operation_p] = _slopes
batching.primitive_batchers[operation_p] = _mapped
