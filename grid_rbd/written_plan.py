"""Plans that come back from a file: read, and checked field by field, since anybody may have edited them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grid_core.errors import GridError, OptionError
from grid_core.model.xml_source import path_text
from grid_rbd.basics import new_name
from grid_rbd.wishes import Wish
from grid_store.atomic import decode

AGAIN = "write it again with plan --json"
STATES = ("hit", "miss", "stale")


@dataclass(frozen=True)
class PlannedUnit:
    """One unit of a written plan.

    Attributes
    ----------
    algorithm : str
    stored : bool
        Whether it was there when the plan was made.
    inputs : dict of str to str
        Components of its input key.
    seconds : float
        What compiling it is expected to take; one that nothing is known of counts a second.
    """

    algorithm: str
    stored: bool
    inputs: dict[str, str]
    seconds: float


@dataclass(frozen=True)
class WrittenPlan:
    """What :func:`~grid_rbd.build_plan` returned, as far as building from it needs it."""

    name: str
    wish: Wish
    units: tuple[PlannedUnit, ...]
    compiler: dict[str, str]


def read_plan(plan: Any) -> WrittenPlan:
    """Return a plan, given as what ``build_plan`` returned or as the path of a file with it.

    Raises
    ------
    OptionError
        It is no plan, or one that was damaged or made by another version.
    """
    values, label = (plan, "plan") if isinstance(plan, Mapping) else (_document(plan), f"plan {plan}")
    needed = ("name", "wish", "units", "build_identity")
    if not isinstance(values, Mapping) or any(name not in values for name in needed):
        raise OptionError(f"{label} is not what build_plan returns, which has {', '.join(needed)}; {AGAIN}")
    try:
        return _parsed(values)
    except (GridError, KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise OptionError(
            f"{label} was edited, or made by another version or with other plugins: {what}; {AGAIN}"
        ) from error


def _document(plan: Any) -> Any:
    text = path_text(plan)
    if not text or "\0" in text:
        raise OptionError(f"plan is {plan!r:.80}, expected what build_plan returns, or the path of a file with it")
    try:
        return decode(Path(text).read_bytes())
    except OSError as error:
        raise OptionError(f"plan: {text} cannot be read: {error.strerror}; {AGAIN}") from error
    except ValueError as error:
        raise OptionError(f"plan: {text} is no JSON: {error}; {AGAIN}") from error


def _parsed(values: Mapping[str, Any]) -> WrittenPlan:
    wish = Wish.from_json(values["wish"])
    known = wish.request.catalogue.algorithms
    if missing := [name for name in wish.request.algorithms if name not in known]:
        raise OptionError(f"no plugin here provides {missing[0]!r}, which may be one to install")
    units = tuple(_unit(unit) for unit in values["units"])
    if {unit.algorithm for unit in units} != {*(wish.request.units if wish.is_compiled else ())}:
        raise OptionError("its units are not those of its wish")
    compiler = _texts(values["build_identity"]["compiler"]) if wish.is_compiled else {}
    return WrittenPlan(new_name(values["name"]), wish, units, compiler)


def _unit(unit: Mapping[str, Any]) -> PlannedUnit:
    status, expected = unit["status"], unit["expected"]
    if status not in STATES:
        raise OptionError(f"the status of a unit is {status!r:.80}, expected one of {', '.join(STATES)}")
    seconds = 1.0 if expected is None else float(expected["seconds"])
    return PlannedUnit(str(unit["algorithm"]), status == "hit", _texts(unit["inputs"]), max(seconds, 0.0))


def _texts(values: Any) -> dict[str, str]:
    texts = dict(values)
    for name, text in texts.items():
        if not isinstance(text, str):
            raise OptionError(f"{name} is {text!r:.80}, expected text")
    return texts
