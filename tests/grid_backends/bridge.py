"""The table of ``grid_bridge.h`` as a compiled front-end sees it: calls by a key, without Python's lock."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any


class Buffer(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("scalars", ctypes.c_int64))


class Place(ctypes.Structure):
    _fields_ = (("on_gpu", ctypes.c_int32), ("threads", ctypes.c_int32), ("stream", ctypes.c_void_p))


CALL = ctypes.CFUNCTYPE(
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_int64,
    ctypes.POINTER(Buffer),
    ctypes.c_int32,
    ctypes.POINTER(Buffer),
    ctypes.c_int32,
    ctypes.POINTER(Place),
)


class Bridge(ctypes.Structure):
    _fields_ = (("abi", ctypes.c_uint32), ("call", CALL))


Call = Callable[..., "str | None"]


def buffers(arrays: list[Any]) -> Any:
    return (Buffer * len(arrays))(*(Buffer(a.ctypes.data, a.size) for a in arrays))


def connect() -> Call:
    """Return a function that calls what is published under a key; it returns what went wrong."""
    from grid_backends.native import bridge_address

    table = Bridge.from_address(bridge_address())
    assert table.abi == 1

    def call(key: str, arguments: list[Any], results: list[Any], on_gpu: int = 0) -> str | None:
        name, place = key.encode(), ctypes.byref(Place(on_gpu, 2, None))
        found = table.call(name, len(name), buffers(arguments), len(arguments), buffers(results), len(results), place)
        return None if found is None else found.decode()

    return call
