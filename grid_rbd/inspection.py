"""What is known about a registered robot, without loading its code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grid_core.build import load_entry
from grid_core.build.entry import verified_unit
from grid_core.errors import StaleRobotError
from grid_core.model import Joint, Model
from grid_rbd.basics import checked_name, open_store
from grid_store import CorruptEntryError


def describe_robot(name: str, cache_dir: str | Path | None = None) -> dict[str, Any]:
    """Return the facts of a registered robot as plain JSON values.

    Returns
    -------
    dict
        ``name, store, model, options, level, lazy, end_effectors, bytes, units`` and ``joints``. ``units`` holds, per
        algorithm, ``bytes``, compile ``seconds``, ``key`` and ``path``.

    Raises
    ------
    RobotNotRegisteredError
        The name is not registered.
    StaleRobotError
        The stored build cannot be used by this process.
    """
    store = open_store(cache_dir)
    entry = load_entry(checked_name(name), store)
    units = {}
    for algorithm, stored in entry.units.entries.items():
        path = verified_unit(stored)
        units[algorithm] = {
            "bytes": path.stat().st_size,
            "seconds": stored.meta.get("seconds"),
            "key": stored.key,
            "path": str(path),
        }
    facts = entry.record["facts"]
    return {
        "name": name,
        "store": str(store.root),
        "model": _sizes(entry.model),
        "options": entry.options.to_json(),
        "level": entry.record["level"],
        "lazy": facts["lazy"],
        "end_effectors": [f.name for f in entry.options.settings.end_effector_frames(entry.model)],
        "bytes": sum(unit["bytes"] for unit in units.values()),
        "units": units,
        "joints": [_joint(entry.model, joint) for joint in entry.model.joints],
    }


def describe_robots(cache_dir: str | Path | None = None) -> list[dict[str, Any]]:
    """Return the facts of all registered robots; one that cannot be loaded has ``stale_reasons`` instead."""
    return [_described(name, cache_dir) for name in open_store(cache_dir).names()]


def _described(name: str, cache_dir: str | Path | None) -> dict[str, Any]:
    try:
        return describe_robot(name, cache_dir)
    except StaleRobotError as error:
        return {"name": name, "stale_reasons": error.reasons}
    except CorruptEntryError as error:
        return {"name": name, "stale_reasons": [str(error)]}


def _sizes(model: Model) -> dict[str, Any]:
    return {"name": model.name, "floating_base": model.floating_base, **model.dims, "frames": len(model.frames)}


def _joint(model: Model, joint: Joint) -> dict[str, Any]:
    return {
        "name": joint.name,
        "kind": joint.kind,
        "parent": model.joints[joint.parent].name if joint.parent >= 0 else None,
        "q": [joint.q_index, joint.nq],
        "v": [joint.v_index, joint.nv],
        "mimic": joint.mimic,
        "position_limits": [_finite(joint.lower), _finite(joint.upper)],
        "velocity_limit": _finite(joint.velocity_limit),
        "effort_limit": _finite(joint.effort_limit),
    }


def _finite(value: float) -> float | None:
    return float(value) if abs(value) != float("inf") else None
