"""Building from a written plan, whole or in shards, for batch systems that share nothing but a file system."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from grid_core.build import BuiltUnit, Event, UnitJob, make_plan, run_job
from grid_core.build.entry import make_record
from grid_core.errors import OptionError
from grid_core.toolchains import run_all, worker_count
from grid_rbd.basics import open_store
from grid_rbd.keywords import checked_keywords
from grid_rbd.progress import shown_progress
from grid_rbd.warming import bind_model, checked_model, facts_of, inputs_before
from grid_rbd.wishes import Wish
from grid_rbd.written_plan import PlannedUnit, WrittenPlan, read_plan
from grid_store import Store

_SHARD = re.compile(r"([0-9]+)/([0-9]+)")


@checked_keywords
def build_from_plan(
    plan: Mapping[str, Any] | str | Path, *, shard: str | None = None, cache_dir: str | Path | None = None
) -> dict[str, Any]:
    """Build what a plan found missing, or a share of it; the last to finish registers the robot.

    Parameters
    ----------
    plan : dict or path
        What :func:`build_plan` returned, or a file with it, as ``grid-rbd plan --json`` writes.
    shard : str, optional
        ``"2/8"``: the second of eight shares, which are about equally long by what recorded builds took.
    cache_dir : path, optional
        The store, which all shards share.

    Returns
    -------
    dict
        ``name, cache_dir, shard``; ``built``, a list of ``{"algorithm", "content_key", "compiled", "seconds",
        "worker"}``; ``missing``, the algorithms that other shards still have to build; ``registered``.

    Raises
    ------
    OptionError
        It is no plan, one that was edited or made by another version, or no share.
    ToolchainMismatchError
        This machine has another compiler, version or plugin than the one that planned.
    CompileError
        A compiler failed; units that were finished stay in the store.
    """
    planned, store = read_plan(plan), open_store(cache_dir, strict=True)
    units = _share([unit for unit in planned.units if not unit.stored], shard)
    jobs = [_job(planned, unit, store) for unit in units]
    with shown_progress(len(jobs), planned.name) as progress:

        def run(job: UnitJob) -> dict[str, Any]:
            built = BuiltUnit(**run_job(job.to_json()))
            if progress:
                progress(Event("done", built.algorithm, 0, len(jobs), built.seconds, built.compiled))
            return vars(built)

        built = run_all([partial(run, job) for job in jobs], worker_count(len(jobs))) if jobs else []
    missing = _registered(planned.name, planned.wish, store)
    return {
        "name": planned.name,
        "cache_dir": str(store.root),
        "shard": shard,
        "built": built,
        "missing": missing,
        "registered": not missing,
    }


def _registered(name: str, wish: Wish, store: Store) -> list[str]:
    """Register a robot if everything is built; return what is not."""
    if not wish.is_compiled:
        bind_model(name, wish, store)
        return []
    plan = make_plan(wish.request, store, inputs_before(name, store))
    if not plan.missing:
        units = {unit.algorithm: unit.entry for unit in plan.units if unit.entry}
        store.bind(name, make_record(wish.request, checked_model(wish, store)[0], units, plan, facts_of(wish)))
    return [unit.algorithm for unit in plan.missing]


def _job(planned: WrittenPlan, unit: PlannedUnit, store: Store) -> UnitJob:
    request = replace(planned.wish.request, algorithms=(unit.algorithm,))
    return UnitJob(request, unit.algorithm, planned.compiler, unit.inputs, str(store.root))


def _share(units: Sequence[PlannedUnit], shard: str | None) -> list[PlannedUnit]:
    """Return the units of one shard; every shard that reads the same plan deals them out alike."""
    if shard is None:
        return list(units)
    found = _SHARD.fullmatch(str(shard))
    index, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= index <= count:
        raise OptionError(f"shard is {shard!r:.80}, expected a share such as '2/8', which is the second of eight")
    loads, mine = [0.0] * min(count, len(units)), []
    for unit in sorted(units, key=lambda unit: (-unit.seconds, unit.algorithm)):
        least = min(range(len(loads)), key=lambda n: loads[n])
        loads[least] += unit.seconds
        if least == index - 1:
            mine.append(unit)
    return mine
