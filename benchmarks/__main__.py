"""Run the benchmarks: ``python -m benchmarks [SECTION ...] [--output FILE] [--figure]``.

Prints a line ``name.metric value`` for each figure, writes all of them with facts of the machine to one JSON file, and
ends with the table of bars. The first run also compiles the peer's drivers (two minutes each, 3.5 GB of memory); all
else takes about ten.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

from benchmarks import building, frameworks, frameworks_gpu, gpu, mechanics, operating, speed, stepping
from benchmarks.figure import draw
from benchmarks.machine import machine_facts
from benchmarks.report import judge, print_lines, table
from grid_core.model import URDFWarning

SECTIONS = {
    "building": building,
    "operating": operating,
    "speed": speed,
    "mechanics": mechanics,
    "stepping": stepping,
    "frameworks": frameworks,
    "gpu": gpu,
    "frameworks-gpu": frameworks_gpu,
}
FOLDER = Path(__file__).parent
STORE = FOLDER / "build" / "store"
RESULT = FOLDER / "build" / "latest.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure grid-rbd against its bars.")
    parser.add_argument("sections", nargs="*", metavar="section", help=f"{', '.join(SECTIONS)}; default: all")
    parser.add_argument("--output", type=Path, default=RESULT, help="JSON file to write (default: %(default)s)")
    parser.add_argument("--figure", action="store_true", help="draw docs/figures/speed.svg from the result")
    given = parser.parse_args()
    chosen = [name for name in SECTIONS if name in (given.sections or SECTIONS)]
    if unknown := set(given.sections) - set(SECTIONS):
        parser.error(f"unknown section {min(unknown)!r}, expected one of {', '.join(SECTIONS)}")
    warnings.simplefilter("ignore", URDFWarning)
    facts = machine_facts()
    made = [m for name in chosen for m in print_lines(SECTIONS[name].measure(STORE))]
    rows = judge([bar for name in chosen for bar in SECTIONS[name].BARS], made)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    result = {"machine": facts, "bars": rows, "measurements": {m.key: round(m.value, 4) for m in made}}
    given.output.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(f"\n{table(rows)}\n\nwritten to {given.output}")
    if given.figure:
        draw(given.output)


main()
