"""Measurements as data: stable ``name.metric value`` lines, bars, and the table of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """One figure.

    Attributes
    ----------
    name : str
        What was measured, such as ``iiwa14.inverse_dynamics.float64``.
    metric : str
        Quantity and unit, such as ``ns_per_sample``.
    value : float
    """

    name: str
    metric: str
    value: float

    @property
    def key(self) -> str:
        return f"{self.name}.{self.metric}"

    @property
    def line(self) -> str:
        return f"{self.key} {self.value:.4g}" if abs(self.value) < 1e4 else f"{self.key} {self.value:.0f}"


@dataclass(frozen=True)
class Bar:
    """A bound that a measurement has to keep: at least ``bound`` if ``upwards``, below it otherwise."""

    key: str
    bound: float
    upwards: bool = False

    def kept(self, value: float) -> bool:
        return value >= self.bound if self.upwards else value < self.bound


def print_lines(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Print each measurement as soon as it is made; return them all."""
    made = []
    for measurement in measurements:
        print(measurement.line, flush=True)
        made.append(measurement)
    return made


def judge(bars: Sequence[Bar], measurements: Iterable[Measurement]) -> list[dict[str, object]]:
    """Return a row per bar that was measured: key, bound, value and whether it is kept."""
    values = {m.key: m.value for m in measurements}
    return [
        {"bar": bar.key, "bound": bar.bound, "at_least": bar.upwards, "value": value, "kept": bar.kept(value)}
        for bar in bars
        if (value := values.get(bar.key)) is not None
    ]


def table(rows: Sequence[dict[str, object]]) -> str:
    """Return the judged bars as a Markdown table."""
    lines = ["| bar | bound | measured | |", "|---|---|---|---|"]
    for row in rows:
        sign, verdict = ("≥" if row["at_least"] else "<"), ("pass" if row["kept"] else "**MISS**")
        lines.append(f"| {row['bar']} | {sign} {row['bound']:g} | {row['value']:.4g} | {verdict} |")
    return "\n".join(lines)
