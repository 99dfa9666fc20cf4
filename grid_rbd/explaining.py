"""Plans in words: one sentence for each unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COMPONENTS = {
    "description": "the description",
    "options": "the options",
    "level": "the instruction set",
    "compiler": "the compiler",
    "core": "the sources of grid-rbd",
    "plugins": "the sources of its plugins",
    "target": "the target",
    "schema": "the format of keys",
    "algorithm": "the algorithm",
}
"""What the components of the key of a unit are called."""


def explain_plan(report: Mapping[str, Any]) -> dict[str, str]:
    """Return why each algorithm would be compiled, or why not, for a report of :func:`~grid_rbd.build_plan`."""
    return {unit["algorithm"]: _sentence(unit, report) for unit in report["units"]}


def _sentence(unit: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    if unit["status"] == "hit":
        return "It is stored, and nothing that it was made from has changed."
    made = f"copied from {unit['tier']}" if unit["tier"] else "compiled"
    if unit["status"] == "miss":
        return f"It would be {made}, because {unit['reason']}."
    changed = _listed([_component(name, report["changes"].get(name, ())) for name in unit["changed"]])
    verb = "differs" if len(unit["changed"]) == 1 and unit["changed"][0] not in _PLURAL else "differ"
    again = "" if unit["tier"] else " again"
    return f"It would be {made}{again}, because {changed} {verb} from what {report['name']!r} was built from."


_PLURAL = ("options", "core", "plugins")


def _component(name: str, values: Any) -> str:
    return COMPONENTS[name] + (f" ({', '.join(values)})" if values else "")


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
