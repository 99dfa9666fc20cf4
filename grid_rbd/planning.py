"""Dry runs: what a registration would build, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grid_core.build import make_plan
from grid_core.build.models import check_description
from grid_core.build.record import usable_record
from grid_rbd.basics import checked_name, open_store
from grid_rbd.growing import grown
from grid_rbd.keywords import checked_keywords
from grid_rbd.wishes import Wish, description_of, make_wish, target_facts
from grid_store import Store


@checked_keywords
def build_plan(name: str, urdf_path: str | Path | None = None, **opts: Any) -> dict[str, Any]:
    """Resolve a registration without building it: nothing is generated, compiled or loaded.

    Parameters
    ----------
    name : str
    urdf_path : path
    **opts
        As for :func:`register_robot`, ``urdf_string`` and ``cache_dir`` included.

    Raises
    ------
    URDFParseError
        The description is not valid.

    Returns
    -------
    dict
        ``name, cache_dir, cuda_arch, cuda_archs, cpu_level, code_options, build_identity, input_key, content_key,
        cached, stale_reasons, store_dir, would``, and ``units`` with status and reason of every unit.
    """
    options = dict(opts)
    name, store = checked_name(name), open_store(options.pop("cache_dir", None))
    source = description_of(urdf_path, options.pop("urdf_string", None))
    return plan_report(name, make_wish(source, options), store)


def plan_report(name: str, wish: Wish, store: Store) -> dict[str, Any]:
    """Return the report of :func:`build_plan` for a checked wish."""
    wish = grown(name, wish, store)
    check_description(wish.request, store)
    record = usable_record(name, store)
    plan = make_plan(wish.request, store, record["inputs"] if record else None)
    reasons = [f"{unit.algorithm}: {unit.reason}" for unit in plan.missing]
    values = plan.to_json()
    return {
        "name": name,
        "cache_dir": str(store.root),
        **target_facts(plan.request),
        "code_options": values["options"],
        "build_identity": {"compiler": values["compiler"], "level": values["level"]},
        "input_key": plan.input_key,
        "content_key": plan.content_key,
        "cached": not plan.missing,
        "stale_reasons": reasons if record and reasons else None,
        "store_dir": str(store.root),
        "would": f"generate+compile ({'; '.join(reasons)})" if reasons else "load",
        "units": values["units"],
    }
