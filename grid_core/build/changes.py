"""What differs between a request and the record of an earlier build, value by value where the record keeps values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grid_core.build.request import RobotRequest


def changed_values(record: Mapping[str, Any], request: RobotRequest) -> dict[str, list[str]]:
    """Return lines such as ``"dtype: float32 -> float64"``, by component of the keys of units."""
    before, now = _flat(record["options"]), _flat(request.options.to_json())
    names = [name for name in (*before, *now) if before.get(name) != now.get(name)]
    options = [f"{name}: {before.get(name)} -> {now.get(name)}" for name in dict.fromkeys(names)]
    level = [f"{record['level']} -> {request.level}"] if record["level"] != request.level else []
    return {name: lines for name, lines in (("options", options), ("level", level)) if lines}


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(_leaves(values))


def _leaves(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        else:
            yield name, value
