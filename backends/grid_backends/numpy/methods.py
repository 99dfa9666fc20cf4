"""Handle methods, generated from declarations: real functions with the declared signature and documentation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from types import CodeType
from typing import Any

from grid_backends.numpy.docstring import docstring
from grid_backends.numpy.signature import Signature
from grid_core.errors import PluginError

SOURCE = """\
def {name}({parameters}):
    if _convention is not None:
        self._check_convention(_convention)
    arguments = ({arguments})
    result = self._calls[{index}](arguments, out, self._threads)
    return self._general({index}, arguments, out) if result is NotImplemented else result
"""


def add_methods(base: type[Any], signatures: Sequence[Signature]) -> type[Any]:
    """Return a subclass of a handle class with a method per algorithm and alias.

    Method ``i`` calls ``self._calls[i]``, and ``self._general`` when that returns ``NotImplemented``.

    Raises
    ------
    PluginError
        A name is taken, by another algorithm or by a service of the handle.
    """
    methods: dict[str, Any] = {}
    for index, signature in enumerate(signatures):
        method = _method(signature, index, f"{base.__qualname__}.{signature.name}")
        for name in (signature.name, *signature.algorithm.aliases):
            if name in methods or hasattr(base, name):
                raise PluginError(
                    f"algorithm {signature.name!r} of family {signature.algorithm.family!r}: the method name {name!r} "
                    "is taken; rename the algorithm or its alias"
                )
            methods[name] = method
    return type(base.__name__, (base,), {"__module__": base.__module__, "__doc__": base.__doc__, **methods})


def _method(signature: Signature, index: int, qualname: str) -> Callable[..., Any]:
    arguments = "".join(f"{i.name}, " for i in signature.inputs)
    source = SOURCE.format(name=signature.name, parameters=signature.parameters, arguments=arguments, index=index)
    namespace: dict[str, Any] = {"__name__": __name__, "inf": math.inf}
    exec(_compiled(source, signature.name), namespace)  # noqa: S102
    method: Callable[..., Any] = namespace[signature.name]
    method.__doc__ = docstring(signature)
    method.__qualname__ = qualname
    return method


@cache
def _compiled(source: str, name: str) -> CodeType:
    return compile(source, f"<method {name}>", "exec")
