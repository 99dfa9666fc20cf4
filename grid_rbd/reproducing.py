"""Whether building a robot again makes the same files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from grid_core.build import make_plan
from grid_core.build.reproduce import check_build
from grid_rbd.basics import checked_name, open_store
from grid_rbd.keywords import checked_keywords
from grid_rbd.wishes import description_of, make_wish


@checked_keywords
def check_robot(name: str, urdf_path: str | Path | None = None, **opts: Any) -> dict[str, Any]:
    """Compile every stored unit of a robot again, in temporary folders, and compare; the store stays as it is.

    Parameters
    ----------
    name, urdf_path, **opts
        As for :func:`register_robot`.

    Returns
    -------
    dict
        ``name, cache_dir``; ``units``, a list of ``{"algorithm", "outcome", "files"}`` with the outcomes ``"same"``,
        ``"differs"`` (in ``files``) and ``"missing"`` (nothing is stored); ``ok``, whether all are the same.

    Raises
    ------
    CompileError
        A compiler failed.
    """
    options = dict(opts)
    name, store = checked_name(name), open_store(options.pop("cache_dir", None))
    wish = make_wish(description_of(urdf_path, options.pop("urdf_string", None)), options)
    found = check_build(make_plan(wish.request, store), store)
    return {
        "name": name,
        "cache_dir": str(store.root),
        "units": [asdict(comparison) for comparison in found],
        "ok": all(comparison.outcome == "same" for comparison in found),
    }
