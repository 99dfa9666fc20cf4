"""Building robots into the store, without loading them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grid_core.build import build, make_plan
from grid_core.build.builder import check_options
from grid_core.build.entry import make_record
from grid_core.build.models import read_model, stored_model
from grid_core.build.options import flag
from grid_core.build.record import usable_record
from grid_core.model import Model
from grid_rbd.basics import new_name, open_store
from grid_rbd.growing import grown
from grid_rbd.keywords import checked_keywords
from grid_rbd.planning import plan_report
from grid_rbd.progress import shown_progress
from grid_rbd.wishes import Wish, description_of, make_wish, target_facts
from grid_store import Entry, Store


@checked_keywords
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
        ``(content_key, store root, meta)``, ``meta`` the stored record; the key is that of the robot's model for
        ``device="reference"``, which has nothing to compile. With ``plan_only=True``, the report of :func:`build_plan`
        instead.
    """
    wish = make_wish(description_of(urdf_path, urdf_string), opts)
    name, store = new_name(name), open_store(cache_dir)
    only_plan, force = flag(plan_only, "plan_only"), flag(force_rebuild, "force_rebuild")
    if only_plan:
        return plan_report(name, wish, store)
    build_and_bind(name, wish, store, force=force)
    return content_key(wish, store), store.root, store.resolve(name)


def content_key(wish: Wish, store: Store) -> str | None:
    """Return the digest of all that is compiled for a wish, ``None`` while any of it is not there."""
    return make_plan(wish.request, store).content_key if wish.is_compiled else wish.request.model_key().digest


def build_and_bind(name: str, wish: Wish, store: Store, *, force: bool = False) -> None:
    """Build what a wish lacks and bind the name to the result.

    A collection without a minimum age may take what was just built before the name keeps it; that is built again.
    """
    wish = grown(name, wish, store)
    if not wish.is_compiled:
        bind_model(name, wish, store)
        return
    record = _build_and_bind(name, wish, store, force=force)
    if not _is_whole(record, store):  # which the name keeps from now on
        _build_and_bind(name, wish, store, force=False)


def _build_and_bind(name: str, wish: Wish, store: Store, *, force: bool) -> dict[str, Any]:
    """Build what a wish lacks, bind the name, and return its record."""
    kept, _ = checked_model(wish, store)
    plan = make_plan(wish.request, store, inputs_before(name, store))
    with shown_progress(len(plan.units if force else plan.missing), name) as progress:
        units = build(plan, store, force=force, progress=progress)
    record = make_record(wish.request, kept, units, plan, facts_of(wish))
    store.bind(name, record)
    return record


def _is_whole(record: Mapping[str, Any], store: Store) -> bool:
    """Return whether the store has everything that a record names."""
    return all(store.get(key, used=False) for key in (record["model"], *record["units"].values()))


def bind_model(name: str, wish: Wish, store: Store) -> Model:
    """Bind the name of a robot that is interpreted to its model, and return that."""
    kept, model = checked_model(wish, store)
    store.bind(name, make_record(wish.request, kept, {}, None, facts_of(wish)))
    return model


def checked_model(wish: Wish, store: Store) -> tuple[Entry, Model]:
    """Return the model of a wish once what the wish says about it is known to be true."""
    kept = stored_model(wish.request, store)
    model = read_model(kept)
    check_options(wish.request, model)
    return kept, model


def inputs_before(name: str, store: Store) -> dict[str, dict[str, str]]:
    """Return the components of the input keys of the units that a name has, by algorithm."""
    record = usable_record(name, store)
    return dict(record["inputs"]) if record else {}


FACTS = ("device", "max_batch", "lazy", "algorithm_list")
"""What every robot has among the facts of its record."""


def facts_of(wish: Wish) -> dict[str, Any]:
    """Return what the record of a robot says beside its request."""
    return {
        "device": wish.device,
        "max_batch": wish.max_batch,
        "lazy": wish.lazy,
        "algorithm_list": list(wish.request.algorithms),
        **target_facts(wish.request),
    }
