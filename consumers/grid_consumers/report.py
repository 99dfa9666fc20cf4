"""What ``plan_only`` tells: whether an artifact is there already, and if not, why."""

from __future__ import annotations

from typing import Any

from grid_consumers.artifact import compute_of
from grid_consumers.plan import ArtifactPlan, Contents
from grid_consumers.record import changes, usable_record
from grid_core.build.builder import check_options
from grid_core.build.header import header_key
from grid_core.build.models import parsed
from grid_store import Store


def plan_report(plan: ArtifactPlan, store: Store) -> dict[str, Any]:
    """Return what ``plan_only`` tells. The header is not generated: until it was, the content is not known."""
    recipe, request = plan.recipe, plan.request
    contents = _known_contents(plan, store)
    entry = store.get(contents.key.digest, verify=True) if contents else None
    tier = store.offers([contents.key]).get(contents.key.digest) if contents and entry is None else None
    reasons = [] if entry else _reasons(plan, contents, store)
    step = f"copy from {tier}" if tier else "compile" if contents else "generate+compile"
    return {
        "consumer": recipe.consumer,
        "name": recipe.name,
        "cache_dir": str(store.root),
        "cuda_arch": compute_of(request.level),
        "code_options": request.options.to_json(),
        "identity": {"compiler": plan.compiler.identity(), "level": request.level},
        "input_key": plan.input_key.digest,
        "sources": [str(source) for source in recipe.sources],
        "headers": [str(header) for header in recipe.headers],
        "defines": list(recipe.defines),
        "content_key": contents.key.digest if contents else None,
        "cached": entry is not None,
        "tier": tier,
        "stale_reasons": reasons or None,
        "store_dir": str(entry.directory) if entry else None,
        "would": "load" if entry else f"{step} ({'; '.join(reasons) or 'it has not been built before'})",
    }


def _known_contents(plan: ArtifactPlan, store: Store) -> Contents | None:
    """Return what is compiled if the header is there; check the robot if it is not."""
    header = store.get(header_key(plan.request, plan.sections).digest, verify=True)
    if header is None:
        check_options(plan.request, parsed(plan.request))
        return None
    return plan.contents(header)


def _reasons(plan: ArtifactPlan, contents: Contents | None, store: Store) -> list[str]:
    record = usable_record(plan.recipe.consumer, plan.recipe.name, store)
    if record is None:
        return []
    found = changes(record, plan.input_key, contents.own_files() if contents else None)
    return found or ["its files are damaged or no longer in the store"]
