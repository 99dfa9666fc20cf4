"""Run the benchmarks: ``python -m benchmarks [SECTION ...] [--robots NAMES] [--output FILE] [--figure]``.

Prints a line ``name.metric value`` for each figure, writes all of them with facts of the machine to one JSON file, and
ends with the table of bars. The first run also compiles the peer's drivers (two minutes each, 3.5 GB of memory); all
else takes about ten.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from benchmarks import building, families_gpu, frameworks, frameworks_gpu, gpu, mechanics, operating, speed, stepping
from benchmarks.families_gpu import Family
from benchmarks.figure import draw
from benchmarks.machine import machine_facts
from benchmarks.report import Bar, Measurement, judge, print_lines, table
from grid_core.model import URDFWarning


class Section(Protocol):
    """What is measured together, and its bars: a module, or a row of a table."""

    @property
    def BARS(self) -> Sequence[Bar]: ...

    def measure(self, store: Path) -> Iterable[Measurement]: ...


SECTIONS: dict[str, Section] = {
    "building": building,
    "operating": operating,
    "speed": speed,
    "mechanics": mechanics,
    "stepping": stepping,
    "frameworks": frameworks,
    "gpu": gpu,
    "frameworks-gpu": frameworks_gpu,
    "second-order-gpu": families_gpu.SECOND_ORDER,
    "mechanics-gpu": families_gpu.MECHANICS,
    "stepping-gpu": families_gpu.STEPPING,
}
FAMILIES = ", ".join(name for name, section in SECTIONS.items() if isinstance(section, Family))
FOLDER = Path(__file__).parent
STORE = FOLDER / "build" / "store"
RESULT = FOLDER / "build" / "latest.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure grid-rbd against its bars.")
    parser.add_argument("sections", nargs="*", metavar="section", help=f"{', '.join(SECTIONS)}; default: all")
    parser.add_argument("--robots", metavar="names", help=f"some robots of {FAMILIES} only, such as iiwa14,go2")
    parser.add_argument("--output", type=Path, default=RESULT, help="JSON file to write (default: %(default)s)")
    parser.add_argument("--figure", action="store_true", help="draw docs/figures/speed.svg from the result")
    given = parser.parse_args()
    chosen = [name for name in SECTIONS if name in (given.sections or SECTIONS)]
    if unknown := set(given.sections) - set(SECTIONS):
        parser.error(f"unknown section {min(unknown)!r}, expected one of {', '.join(SECTIONS)}")
    try:
        sections = [_narrowed(name, given.robots) for name in chosen]
    except argparse.ArgumentError as error:
        parser.error(str(error))
    warnings.simplefilter("ignore", URDFWarning)
    facts = machine_facts()
    made = [m for section in sections for m in print_lines(section.measure(STORE))]
    rows = judge([bar for section in sections for bar in section.BARS], made)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    result = {"machine": facts, "bars": rows, "measurements": {m.key: round(m.value, 4) for m in made}}
    given.output.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(f"\n{table(rows)}\n\nwritten to {given.output}")
    if given.figure:
        draw(given.output)


def _narrowed(name: str, robots: str | None) -> Section:
    """Return a section for the robots that are asked for."""
    section = SECTIONS[name]
    if robots is None:
        return section
    if not isinstance(section, Family):
        raise argparse.ArgumentError(None, f"--robots is for {FAMILIES}, not for {name!r}")
    names = robots.split(",")
    if unknown := set(names) - {robot.name for robot in section.robots}:
        expected = ", ".join(robot.name for robot in section.robots)
        raise argparse.ArgumentError(None, f"--robots: {name} has no {min(unknown)!r}, expected some of {expected}")
    return section.on(names)


main()
