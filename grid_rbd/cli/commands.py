"""Commands whose help is written out as results are: a full disk below standard output is named, not passed over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from grid_rbd.cli.output import written_out

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Command(TyperCommand):
    """One command."""

    def format_help(self, *where: Any) -> None:
        """Print the help."""
        with written_out():
            super().format_help(*where)


class Group(TyperGroup):
    """A command that has others below it."""

    def format_help(self, *where: Any) -> None:
        """Print the help."""
        with written_out():
            super().format_help(*where)


class Commands(typer.Typer):
    """A group of commands to which functions are added."""

    def __init__(self, *, cls: type[Group] = Group, **settings: Any) -> None:
        super().__init__(cls=cls, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[_Function], _Function]:
        """Return what makes a function a command of this group."""
        return super().command(name, cls=Command, **settings)
