"""Building robots into the store, without loading them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from grid_core.build import build, make_plan
from grid_core.build.builder import check_options
from grid_core.build.entry import make_record
from grid_core.build.models import read_model, stored_model
from grid_core.build.record import usable_record
from grid_core.model import Model
from grid_rbd.growing import grown
from grid_rbd.planning import plan_report
from grid_rbd.progress import shown_progress
from grid_rbd.wishes import Wish, check_backend, description_of, make_wish, target_facts
from grid_store import Entry, Store


def warm_robot(
    name: str,
    urdf_path: str | Path | None = None,
    *,
    urdf_string: str | None = None,
    cache_dir: str | Path | None = None,
    force_rebuild: bool = False,
    plan_only: bool = False,
    **opts: Any,
) -> Any:
    """Build a robot into the store without loading it.

    Returns
    -------
    tuple
        ``(content_key, store root, meta)``, ``meta`` the stored record. With ``plan_only=True``, the report of
        :func:`build_plan` instead.
    """
    wish = make_wish(description_of(urdf_path, urdf_string), opts)
    store = Store(cache_dir)
    if plan_only:
        return plan_report(name, wish, store)
    build_and_bind(name, wish, store, force=force_rebuild)
    record = store.resolve(name)
    return make_plan(wish.request, store).content_key, store.root, record


def precompile(
    name: str,
    urdf_path: str | Path | None = None,
    *,
    urdf_string: str | None = None,
    tiers: Iterable[dict[str, Any]] | None = None,
    floating_base: bool = False,
    ee_joint_names: Sequence[str] | None = None,
    max_batch_size: int = 256,
    backends: Iterable[str] = ("numpy",),
    cache_dir: str | Path | None = None,
    cuda_arch: int | None = None,
) -> list[dict[str, Any]]:
    """Build one or several variants of a robot ahead of time.

    Parameters
    ----------
    tiers : iterable of dict, optional
        Overrides of :func:`register_robot` options, one build each; several are named ``name__tier0``,
        ``name__tier1``, ...

    Returns
    -------
    list of dict
        ``{"name", "backend", ...}`` and the stored record, for each tier and backend.
    """
    shared = {
        "floating_base": floating_base,
        "ee_joint_names": ee_joint_names,
        "max_batch_size": max_batch_size,
        "cuda_arch": cuda_arch,
    }
    wanted = [dict(tier) for tier in tiers] if tiers is not None else [{}]
    built = []
    for number, tier in enumerate(wanted):
        own_name = f"{name}__tier{number}" if len(wanted) > 1 else name
        for backend in backends:
            check_backend(backend)
            _, _, record = warm_robot(
                own_name, urdf_path, urdf_string=urdf_string, cache_dir=cache_dir, **{**shared, **tier}
            )
            built.append({"name": own_name, "backend": backend, **record})
    return built


def build_and_bind(name: str, wish: Wish, store: Store, *, force: bool = False) -> None:
    """Build what a wish lacks and bind the name to the result."""
    wish = grown(name, wish, store)
    kept, _ = checked_model(wish, store)
    plan = make_plan(wish.request, store, _inputs_before(name, store))
    with shown_progress(len(plan.units if force else plan.missing), name) as progress:
        units = build(plan, store, force=force, progress=progress)
    store.bind(name, make_record(wish.request, kept, units, plan, facts_of(wish)))


def checked_model(wish: Wish, store: Store) -> tuple[Entry, Model]:
    """Return the model of a wish once what the wish says about it is known to be true."""
    kept = stored_model(wish.request, store)
    model = read_model(kept)
    check_options(wish.request, model)
    return kept, model


def _inputs_before(name: str, store: Store) -> dict[str, dict[str, str]]:
    record = usable_record(name, store)
    return dict(record["inputs"]) if record else {}


def facts_of(wish: Wish) -> dict[str, Any]:
    """Return what the record of a robot says beside its request."""
    return {
        "device": wish.device,
        "max_batch": wish.max_batch,
        "lazy": wish.lazy,
        "algorithm_list": list(wish.request.algorithms),
        **target_facts(wish.request),
    }
