"""Methods of several kernels on device arrays: all of them on one stream, on parts of arguments and of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_backends.numpy.arguments import common_batch
from grid_backends.numpy.each import common_length, items, lists_of
from grid_backends.numpy.general import checked
from grid_backends.numpy.record import Call
from grid_backends.numpy.scan import Callee, ScanRun, step_count
from grid_backends.numpy.signature import Argument, Signature
from grid_core.errors import ArgumentError

if TYPE_CHECKING:
    from grid_backends.native import DevicePart

LEGACY_STREAM = 1


@dataclass(frozen=True)
class DeviceCall:
    """A call that was given device arrays.

    Parameters
    ----------
    signature : Signature
        The method.
    device, stream : int
        Where its kernels run.
    threads : int
        Of the host, as calls are given them.
    parts : tuple of DevicePart or None
        One per input; ``None`` for what is in host memory or left out.
    """

    signature: Signature
    device: int
    stream: int
    threads: int
    parts: tuple[DevicePart | None, ...]

    @classmethod
    def find(
        cls, signature: Signature, values: Sequence[Any], out: Any, stream: Any, threads: int, device: int
    ) -> DeviceCall | None:
        """Return the call, or ``None`` if neither arguments nor ``out`` are in device memory."""
        from grid_backends.native import device_part, stream_handle

        parts = tuple(device_part(value, stream) for value in values)
        written = [device_part(array, stream) for array in (out if isinstance(out, (tuple, list)) else (out,))]
        found = [part for part in (*parts, *written) if part is not None]
        if not found:
            return None
        chosen = stream_handle(stream)
        first = found[0].stream if chosen is None else chosen
        call = cls(signature, device, LEGACY_STREAM if first is None else first, threads, parts)
        for argument, part in zip(signature.inputs, parts):
            if part is not None:
                call.check(part, f"argument {argument.name!r}")
        return call

    def check(self, part: DevicePart, what: str) -> None:
        """Refuse arrays of another dtype than the build's, and on other devices."""
        expected = self.signature.dtype.str[1:]
        if part.dtype != expected:
            raise ArgumentError(
                f"{self.signature.name}: {what} has dtype {part.dtype}, expected {expected}, that of the build; "
                "convert it first"
            )
        if part.device not in (-1, self.device):
            raise ArgumentError(
                f"{self.signature.name}: {what} is on 'cuda:{part.device}', expected 'cuda:{self.device}', where this "
                "handle runs; move it, or use a handle of that device"
            )

    def batch(self, along: Sequence[str] = ()) -> tuple[int, ...]:
        """Return the batch axes of the arguments; those named in ``along`` have one more axis before the sample's."""
        batches = {}
        for argument, part in zip(self.signature.inputs, self.parts):
            if part is None:
                continue
            axes = len(argument.shape)
            steps = argument.name in along
            if part.ndim < axes + steps or part.shape[part.ndim - axes :] != argument.shape:
                shape = ", ".join(["...", *(["n"] if steps else []), *map(str, argument.shape)])
                raise ArgumentError(
                    f"{self.signature.name}: argument {argument.name!r} has shape {part.shape}, expected ({shape})"
                    + (" for n steps, or n = 1 for all of them" if steps else "")
                )
            batches[argument.name] = part.shape[: part.ndim - axes - steps]
        return common_batch(self.signature, batches)

    def results(self, out: Any, shapes: Sequence[tuple[int, ...]]) -> tuple[tuple[DevicePart, ...], Any]:
        """Return what results are written to, and what the call returns: new memory, or the caller's."""
        from grid_backends.native import device_empty, device_part

        signature = self.signature
        if out is None:
            arrays: tuple[Any, ...] = tuple(
                device_empty(shape, signature.dtype, self.device, self.stream) for shape in shapes
            )
            return tuple(map(_whole, arrays)), arrays[0] if signature.result is None else signature.result(*arrays)
        given = out if isinstance(out, (tuple, list)) else (out,)
        if len(given) != len(shapes):
            raise ArgumentError(
                f"{signature.name}: out has {len(given)} arrays, expected one for each of the {len(shapes)} results"
            )
        parts = []
        for output, array, shape in zip(signature.outputs, given, shapes):
            part = device_part(array, self.stream)
            what = f"out for {output.name!r}"
            if part is None:
                raise ArgumentError(
                    f"{signature.name}: {what} is a {type(array).__name__} in host memory, and the call is on "
                    f"'cuda:{self.device}'; pass a device array"
                )
            self.check(part, what)
            if part.shape != shape:
                raise ArgumentError(f"{signature.name}: {what} has shape {part.shape}, expected {shape}")
            parts.append(part)
        return tuple(parts), out if signature.result is None else signature.result(*given)

    def copy(self, target: DevicePart, source: DevicePart) -> None:
        """Copy one row of each sample, or one that all share."""
        from grid_backends.native import copy_parts

        copy_parts(target, source, 1, self.device, self.stream)


def _whole(array: Any) -> DevicePart:
    from grid_backends.native import device_part

    part = device_part(array)
    assert part is not None
    return part


def each_on_device(found: DeviceCall, call: Call, values: tuple[Any, ...], out: Any) -> Any:
    """Call once per item, each call writing its part of the result, which is in C order."""
    signature = found.signature
    lists = lists_of(signature, values)
    count = common_length(signature, lists)
    batch = (*found.batch(), count)
    buffers, answer = found.results(out, [batch + o.shape for o in signature.outputs])
    for item, given in enumerate(items(values, lists, count)):
        parts = tuple(_item(b, item, len(o.shape)) for b, o in zip(buffers, signature.outputs))
        checked(call(given, parts[0] if signature.result is None else parts, found.stream, found.threads), signature)
    return answer


def _item(buffer: DevicePart, item: int, axes: int) -> DevicePart:
    """Return the part of one item, whose axis is the one before those of a sample."""
    index = (..., item, *[slice(None)] * axes)
    return buffer[index]


def scan_on_device(found: DeviceCall, callees: Sequence[Callee], values: tuple[Any, ...], out: Any) -> Any:
    """Run all steps; see :func:`~grid_backends.numpy.scan.call_scan`."""
    signature = found.signature
    scan = signature.algorithm.scan
    assert scan is not None
    parts = dict(zip((i.name for i in signature.inputs), found.parts, strict=True))
    for name, value in zip(parts, values, strict=True):
        if name in (*scan.carried, *scan.along) and value is not None and parts[name] is None:
            raise ArgumentError(
                f"{signature.name}: argument {name!r} is in host memory and other arrays of the call are on a device; "
                "pass all as device arrays, or all as NumPy arrays"
            )
    along = {name: part for name in scan.along if (part := parts[name]) is not None}
    batch = found.batch(scan.along)
    count = step_count(signature, along)
    lengths = (count + 1, *(count for _ in callees[1:]))
    buffers, answer = found.results(out, [(*batch, n, *o.shape) for n, o in zip(lengths, signature.outputs)])
    held = {i.name: _held(i, v, parts[i.name], i.name in scan.along) for i, v in zip(signature.inputs, values)}
    rows = tuple(buffer.joined(len(batch)) for buffer in buffers)
    ScanRun(scan, callees, held, rows, (found.stream, found.threads), found.copy).run(count)
    return answer


def _held(argument: Argument, value: Any, part: DevicePart | None, along: bool) -> Any:
    """Return an argument as every step takes it, with one batch axis or none."""
    if part is None:
        return None if value is None else np.asarray(value)
    axes = part.ndim - len(argument.shape) - along
    return part.joined(axes) if axes else part
