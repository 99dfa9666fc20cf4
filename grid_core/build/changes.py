"""What differs between a plan and the record of an earlier build, value by value where the record keeps values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grid_core.build.plan import Plan
from grid_core.toolchains.toolchain import compiler_text
from grid_store import Store


def changed_values(record: Mapping[str, Any], plan: Plan, store: Store) -> dict[str, list[str]]:
    """Return lines such as ``"dtype: float32 -> float64"``, by component of the keys of units."""
    request = plan.request
    level = [f"{record['level']} -> {request.level}"] if record["level"] != request.level else []
    changes = {
        "options": list(_differences(_flat(record["options"]), _flat(request.options.to_json()))),
        "level": level,
        "compiler": _compilers(record, plan, store),
    }
    return {name: lines for name, lines in changes.items() if lines}


def _compilers(record: Mapping[str, Any], plan: Plan, store: Store) -> list[str]:
    """Return what compiled the units that another compiler would compile now, as far as they are still there."""
    now, lines = plan.compiler.identity(), dict[str, None]()
    for unit in plan.missing:
        key = record["units"].get(unit.algorithm) if "compiler" in unit.changed else None
        entry = store.get(key, used=False) if key else None
        if entry and "compiler" in entry.meta:
            lines |= dict.fromkeys(_compiler_changes(entry.meta["compiler"], now))
    return list(lines)


def _compiler_changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    old, new = compiler_text(before), compiler_text(now)
    return [f"{old} -> {new}"] if old != new else list(_differences(_in_lines(before), _in_lines(now)))


def _in_lines(identity: Mapping[str, str]) -> dict[str, str]:
    return {name: " ".join(text.split()) for name, text in identity.items()}


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys((*before, *now)):
        if before.get(name) != now.get(name):
            yield f"{name}: {before.get(name)} -> {now.get(name)}"


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(_leaves(values))


def _leaves(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        else:
            yield name, value
