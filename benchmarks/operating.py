"""What looking after a store costs: plans of what is built, lookups beside many entries, collecting many of them.

The units are as large as real ones but not compiled: a compiler that copies stands in, since none of this runs them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grid_rbd
from benchmarks.building import run_python
from benchmarks.report import Bar, Measurement
from benchmarks.robots import G1
from grid_core.toolchains import find_compiler
from grid_store import Key, Store

BARS = [
    Bar("g1.plan.warm_ms", 300),
    Bar("store.get_robot.ratio_with_10000_entries", 1.1),
    Bar("store.gc.report_10000_s", 5),
    Bar("store.gc.remove_10000_s", 5),
]
ENTRIES = 10_000
ROUNDS = 40
UNIT_BYTES = 400_000
"""About the mean of a humanoid's units."""

COPIER = """#!/bin/sh
case "$*" in *--version*|*-dumpmachine*|*probe*) exec {compiler} "$@";; esac
while [ "$1" != -o ]; do shift; done
cp {unit} "$2"
"""
PLAN = """
import json, sys, time
path, options = json.loads(sys.argv[1])
began = time.perf_counter()
import grid_rbd
report = grid_rbd.build_plan("humanoid", path, **options)
seconds = time.perf_counter() - began
assert report["cached"]
assert "jinja2" not in sys.modules, "a plan generates nothing"
print(seconds)
"""


def measure(store: Path) -> Iterator[Measurement]:
    """Measure in stores of their own beside ``store``."""
    folder = store.with_name("operating")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    compiler = _copier(folder)
    few, many = folder / "few", folder / "many"
    options = {**G1.options, "cache_dir": str(few), "compiler": compiler}
    grid_rbd.warm_robot("humanoid", G1.path, **options)
    seconds = min(run_python(PLAN, json.dumps([str(G1.path), options])) for _ in range(10))
    yield Measurement("g1.plan", "warm_ms", seconds * 1e3)
    shutil.copytree(few, many)
    _crowd(many)
    yield from _lookups(few, many)
    yield from _collections(many)


def _copier(folder: Path) -> str:
    """Write a compiler that probes like a real one and delivers one ready library, padded to the size of a unit."""
    real = find_compiler().path
    source = folder / "unit.c"
    source.write_text(f"int grid_unit_table(void) {{ return 0; }}\nconst char padding[{UNIT_BYTES}] = {{1}};\n")
    command = [str(real), "-x", "c", "-shared", "-fPIC", str(source), "-o", str(folder / "unit.so")]
    subprocess.run(command, check=True)
    script = folder / "copying-cxx"
    script.write_text(COPIER.format(compiler=real, unit=folder / "unit.so"))
    script.chmod(0o755)
    return str(script)


def _lookups(few: Path, many: Path) -> Iterator[Measurement]:
    """Time ``get_robot`` in a store of one robot, and in the same one with many more entries, in turns."""
    times: dict[Path, list[float]] = {few: [], many: []}
    for _ in range(ROUNDS):
        for root, taken in times.items():
            began = time.perf_counter()
            grid_rbd.get_robot("humanoid", root)
            taken.append(time.perf_counter() - began)
    yield Measurement("store.get_robot", "ms", min(times[few]) * 1e3)
    yield Measurement("store.get_robot", f"ratio_with_{ENTRIES}_entries", min(times[many]) / min(times[few]))


def _crowd(root: Path) -> None:
    """Add entries that nobody needs, as old as years, with a request each."""
    store = Store(root, strict=True)
    for n in range(ENTRIES):
        entry = store.obtain(Key({"n": n}), _produce)
        store.record(Key({"input": n}), entry.key)
        os.utime(entry.directory / "record.json", (1.0, 1.0))


def _produce(folder: Path) -> dict[str, Any]:
    (folder / "unit.so").write_bytes(b"x" * 100)
    (folder / "unit.cpp").write_bytes(b"x" * 100)
    return {"kind": "unit"}


def _collections(root: Path) -> Iterator[Measurement]:
    store = Store(root, strict=True)
    seconds, report = _timed(store.gc)
    assert len(report["entries_removed"]) == ENTRIES
    yield Measurement("store.gc", f"report_{ENTRIES}_s", seconds)
    seconds, report = _timed(lambda: store.gc(execute=True))
    assert len(report["entries_removed"]) == ENTRIES
    yield Measurement("store.gc", f"remove_{ENTRIES}_s", seconds)


def _timed(call: Callable[[], dict[str, Any]]) -> tuple[float, dict[str, Any]]:
    began = time.perf_counter()
    report = call()
    return time.perf_counter() - began, report
