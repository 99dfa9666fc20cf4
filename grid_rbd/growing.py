"""Asking a registered robot for more: what a name already has stays with it."""

from __future__ import annotations

from dataclasses import replace

from grid_core.build.record import usable_record
from grid_rbd.wishes import Wish
from grid_store import Store


def grown(name: str, wish: Wish, store: Store) -> Wish:
    """Return a wish with the algorithms added that the name has, if it means the same robot, built in the same way."""
    request, record = wish.request, usable_record(name, store)
    if record is None:
        return wish
    same = (
        record["facts"]["device"] == wish.device
        and record["model"] == request.model_key().digest
        and record["options"] == request.options.to_json()
        and record["level"] == request.level
        and record["plugin_files"] == list(request.plugin_files)
    )
    known = [a for a in record["facts"].get("algorithm_list", ()) if a in request.catalogue.algorithms] if same else []
    algorithms = request.catalogue.closure([*request.algorithms, *known])
    return replace(wish, request=replace(request, algorithms=algorithms))
