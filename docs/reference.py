"""Writes the parts of the documentation that follow from the code: every method of a handle, every command.

Both come from their single source of truth, the declarations of algorithms and the command line itself, so that no page
has to be kept in step by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.text import Text
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring

from grid_backends.numpy.docstring import docstring
from grid_backends.numpy.methods import OUT, choice_doc, choice_of
from grid_backends.numpy.signature import Signature
from grid_backends.numpy.unavailable import GPU_ONLY, LATER, NOT_NEEDED
from grid_core.plugins import Algorithm
from grid_core.plugins.check import DIMENSIONS
from grid_core.plugins.manager import load_catalogue

FOLDER = Path(__file__).parent / "generated"


def setup(app: Sphinx) -> None:
    """Write the pages before Sphinx looks for sources."""
    app.connect("config-inited", lambda *_: write())


def write() -> None:
    FOLDER.mkdir(exist_ok=True)
    _update(FOLDER / "methods.rst", "\n".join(methods()))
    _update(FOLDER / "commands.md", "\n".join(commands()))
    _update(FOLDER / "unavailable.rst", "\n".join(unavailable()))


def _update(path: Path, text: str) -> None:
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def methods() -> Iterator[str]:
    """Every algorithm as a documented method, grouped by family."""
    algorithms = load_catalogue().algorithms.values()
    yield from [".. currentmodule:: grid_rbd", ""]
    for family in dict.fromkeys(algorithm.family for algorithm in algorithms):
        yield from [f".. rubric:: {family.replace('_', ' ').capitalize()}", ""]
        for algorithm in algorithms:
            if algorithm.family == family:
                yield from _method(algorithm)


def _method(algorithm: Algorithm) -> Iterator[str]:
    signature = Signature(algorithm, DIMENSIONS, np.dtype("float64"))
    choice = choice_of(algorithm, load_catalogue().algorithms)
    keyword = f", {choice.name}={choice.default!r}" if choice else ""
    parameters = signature.parameters().removeprefix("self, ") + ", out=None" + keyword
    for start, name in zip((".. py:method::", "              "), (algorithm.name, *algorithm.aliases)):
        yield f"{start} RobotHandle.{name}({parameters})"
    yield ""
    # The docstring of a handle's method has the numbers of its robot, which a page for all robots leaves out.
    written = docstring(signature, {**choice_doc(choice), **OUT})
    text = re.sub(r" = \([.\d, ]*\)|, float64$", "", written, flags=re.MULTILINE)
    lines = NumpyDocstring(text, Config(napoleon_use_rtype=False)).lines()
    yield from (f"   {line}" for line in lines)
    yield ""


def unavailable() -> Iterator[str]:
    """Every attribute that some handle does not have, with the reason; those with one reason together."""
    for title, group in (("On a CPU", GPU_ONLY), ("On every device", {**NOT_NEEDED, **LATER})):
        yield from [f".. rubric:: {title}", ""]
        for reason in dict.fromkeys(group.values()):
            names = ", ".join(f"``{name}``" for name, own in group.items() if own == reason)
            yield from [names, f"   {reason[0].upper()}{reason[1:]}.", ""]


def commands() -> Iterator[str]:
    """Every command with its options."""
    import typer

    from grid_rbd.cli.app import app

    yield from _commands(typer.main.get_command(app), "grid-rbd")


def _commands(group: Any, prefix: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _command(command, f"{prefix} {name}") if command.invoke_without_command else ()
            yield from _commands(command, f"{prefix} {name}")
        else:
            yield from _command(command, f"{prefix} {name}")


def _command(command: Any, words: str) -> Iterator[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    operands = " ".join(p.name.upper() if p.required else f"[{p.name.upper()}]" for p in arguments)
    yield from [f"## {words} {operands}".rstrip(), "", _plain(command.help), ""]
    for parameter in command.params:
        yield from _parameter(parameter)


def _parameter(parameter: Any) -> Iterator[str]:
    if parameter.param_type_name == "argument":
        yield f"`{parameter.name.upper()}`"
    else:
        value = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar or parameter.name.upper()}"
        yield f"`{', '.join(parameter.opts)}{value}`"
    default = parameter.default
    shown = f" Default: {default}." if isinstance(default, (str, int, Path)) and not isinstance(default, bool) else ""
    yield from [f": {_plain(parameter.help or '')}{shown}", ""]


def _plain(text: str) -> str:
    return " ".join(Text.from_markup(text).plain.split())
