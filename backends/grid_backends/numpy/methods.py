"""Handle methods, generated from declarations: real functions with the declared signature and documentation."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from textwrap import indent
from types import CodeType
from typing import Any

from grid_backends.numpy.docstring import docstring
from grid_backends.numpy.signature import Signature
from grid_core.errors import PluginError
from grid_core.plugins.algorithm import Algorithm, Choice

SOURCE = """\
def {name}({parameters}, **_unknown):
    if _more or _unknown:
        self._refuse_call({name!r}, _more, _unknown)
    if _convention is not None:
        self._check_convention(_convention)
{reading}    arguments = ({arguments})
{call}"""

GUARD = """try:
{call}
except (MemoryError, ValueError) as error:
    self._check_memory({index}, arguments, error)
    raise"""

READING = "    {names} = self._read({index}, ({names}))\n"

CALL = """result = self._calls[{index}](arguments, {where})
return self._general({index}, arguments, {where}) if result is NotImplemented else result"""

TABLE = "self._tables[{0!r}] if {0} is None else {0}, "

CALL_EACH = "return self._for_each({index}, arguments, {where})"


CHOICE = """\
def {name}({parameters}, {choice}={default!r}, **_unknown):
    if _more or _unknown:
        self._refuse_call({name!r}, _more, _unknown)
    return self._chosen({index}, {choice})({arguments}_convention=_convention{more})
"""

PASSED = "{0}={0}, "

UNSTACKED = "**self._unstacked({index}, {0!r}, {0}), "

CALL_SCAN = "return self._scan({index}, {choice}, arguments, {where})"


@dataclass(frozen=True)
class MethodStyle:
    """What methods of one kind of handle have beside the declared arguments.

    Parameters
    ----------
    parameters : mapping of str to str
        Keyword parameters, ``None`` by default, and the text that documents each.
    where : str
        What the function is called with after the arguments.
    arrays : str
        What results are, in the documentation.
    guarded : bool
        Whether results are memory of NumPy, so that a lack of it is explained.
    """

    parameters: Mapping[str, str]
    where: str
    arrays: str
    guarded: bool = True


OUT: Mapping[str, str] = {
    "out": "Written to instead of new memory: of the dtype and the shape of the result with its batch axes, or flat "
    "per sample; in C order, or with the batch last in memory. A tuple of such arrays, or one flat buffer, if there "
    "are several results."
}

CPU_METHODS = MethodStyle(OUT, "out, self._threads", "ndarray")


def add_methods(base: type[Any], signatures: Sequence[Signature], style: MethodStyle = CPU_METHODS) -> type[Any]:
    """Return a subclass of a handle class with a method per algorithm and alias.

    Method ``i`` calls ``self._calls[i]``, and ``self._general`` when that returns ``NotImplemented``.

    Raises
    ------
    PluginError
        A name is taken, by another algorithm or by a service of the handle.
    """
    methods: dict[str, Any] = {}
    algorithms = {signature.name: signature.algorithm for signature in signatures}
    for index, signature in enumerate(signatures):
        choice = choice_of(signature.algorithm, algorithms)
        method = _method(signature, choice, index, f"{base.__qualname__}.{signature.name}", style)
        for name in (signature.name, *signature.algorithm.aliases):
            if name in methods or hasattr(base, name):
                raise PluginError(
                    f"algorithm {signature.name!r} of family {signature.algorithm.family!r}: the method name {name!r} "
                    "is taken; rename the algorithm or its alias"
                )
            methods[name] = method
    return type(base.__name__, (base,), {"__module__": base.__module__, "__doc__": base.__doc__, **methods})


def choice_of(algorithm: Algorithm, algorithms: Mapping[str, Algorithm]) -> Choice | None:
    """Return the choice that a method leaves, which for a scan is that of its step."""
    return algorithms[algorithm.scan.step].choice if algorithm.scan is not None else algorithm.choice


def _method(
    signature: Signature, choice: Choice | None, index: int, qualname: str, style: MethodStyle
) -> Callable[..., Any]:
    if signature.algorithm.choice is not None:
        source = _choice_source(signature, signature.algorithm.choice, index, style)
        return _defined(signature, choice, source, qualname, style)
    tables = {table.name for table in signature.tables}
    arguments = "".join((TABLE if i.name in tables else "{0}, ").format(i.name) for i in signature.inputs)
    names = "".join(f"{i.name}, " for i in signature.readable)
    template = CALL_SCAN if signature.algorithm.scan else CALL_EACH if signature.for_each else CALL
    call = template.format(index=index, where=style.where, choice=choice.name if choice else None)
    keyword = f"{choice.name}={choice.default!r}" if choice else ""
    parameters = ", ".join(filter(None, [_all_parameters(signature, style), keyword]))
    source = SOURCE.format(
        name=signature.name,
        parameters=parameters,
        reading=READING.format(names=names, index=index) if names else "",
        arguments=arguments,
        call=indent(GUARD.format(call=indent(call, "    "), index=index) if style.guarded else call, "    "),
    )
    return _defined(signature, choice, source, qualname, style)


def _all_parameters(signature: Signature, style: MethodStyle) -> str:
    """Return the parameter list of a method, which catches what it does not take."""
    return ", ".join(
        [signature.parameters("_more"), *(f"{name}=None" for name in style.parameters), "_convention=None"]
    )


def _choice_source(signature: Signature, choice: Choice, index: int, style: MethodStyle) -> str:
    return CHOICE.format(
        name=signature.name,
        parameters=_all_parameters(signature, style),
        choice=choice.name,
        default=choice.default,
        index=index,
        arguments="".join(
            (UNSTACKED if i.name in choice.stacked else PASSED).format(i.name, index=index) for i in signature.inputs
        ),
        more="".join(f", {name}={name}" for name in style.parameters),
    )


def _defined(
    signature: Signature, choice: Choice | None, source: str, qualname: str, style: MethodStyle
) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"__name__": __name__, "inf": math.inf}
    exec(_compiled(source, signature.name), namespace)  # noqa: S102
    method: Callable[..., Any] = namespace[signature.name]
    method.__doc__ = docstring(signature, {**choice_doc(choice), **style.parameters}, style.arrays)
    method.__qualname__ = qualname
    method.__signature__ = _shown(source, signature.name)  # type: ignore[attr-defined]
    return method


def choice_doc(choice: Choice | None) -> dict[str, str]:
    """Return the text that documents the keyword of a choice."""
    if choice is None:
        return {}
    values = ", ".join(repr(value) for value in choice.algorithms)
    return {choice.name: f"{choice.doc.rstrip('.')}: one of {values}. Default {choice.default!r}."}


@cache
def _shown(source: str, name: str) -> inspect.Signature:
    """Return the signature of a method without private keywords and what catches arguments that it does not take."""
    namespace: dict[str, Any] = {"inf": math.inf}
    exec(_compiled(source, name), namespace)  # noqa: S102
    whole = inspect.signature(namespace[name])
    return whole.replace(parameters=[p for p in whole.parameters.values() if not p.name.startswith("_")])


@cache
def _compiled(source: str, name: str) -> CodeType:
    return compile(source, f"<method {name}>", "exec")
