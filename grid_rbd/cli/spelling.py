"""Messages speak of the arguments of functions; on a command line these are options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

KEYWORDS: Mapping[str, str] = {
    "algorithm_list": "algorithms",
    "batch_sizes": "batch",
    "cpu_level": "level",
    "follow_mimic": "free_mimic",
    "force_rebuild": "force",
    "urdf_path": "robot",
    "use_joint_dynamics": "joint_dynamics",
}
"""Arguments of functions of :mod:`grid_rbd`, and the parameters of commands that are called otherwise."""

VALUE = r"=(?P<value>'[^']*'|[\w.]*)"


class Spelling:
    """Says in options what a message says in arguments.

    An argument is recognised where it cannot be an English word: with an underscore, with a value, or as the subject
    that a message begins with.

    Parameters
    ----------
    parameters : iterable of click parameters
        Those of the command.
    """

    def __init__(self, parameters: Iterable[Any]) -> None:
        own = {p.name: p.opts[0] if p.opts[0].startswith("-") else p.metavar or p.name for p in parameters}
        self._options = own | {keyword: own[name] for keyword, name in KEYWORDS.items() if name in own}
        names = "|".join(sorted(self._options, key=len, reverse=True))
        self._argument = re.compile(rf"(?<![\w-])(?P<name>{names})(?:{VALUE}|(?=(?P<subject> is )|\b))")

    def __call__(self, text: str) -> str:
        return self._argument.sub(self._spelled, text)

    def _spelled(self, found: re.Match[str]) -> str:
        name, value = found["name"], found["value"]
        if "_" not in name and value is None and not (found["subject"] and found.start() == 0):
            return found[0]
        given = "" if value in (None, "", "True", "False") else f" {value.strip(chr(39))}"
        return f"{self._options[name]}{given}"
