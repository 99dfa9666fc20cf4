"""Looking up registered robots."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from grid_backends.numpy import RobotHandle
from grid_core.build import RobotEntry, RobotRequest, load_entry
from grid_core.build.entry import recorded_request
from grid_core.errors import KeywordError, RobotNotRegisteredError
from grid_core.plugins.manager import load_catalogue
from grid_rbd.backends import check_backend
from grid_rbd.basics import checked_name, open_store
from grid_rbd.handles import adjusted, compiled_handle, lazy_handle, reference_handle
from grid_rbd.keywords import checked_keywords
from grid_rbd.registering import register_robot
from grid_rbd.wishes import check_convention, description_of, make_wish
from grid_store import Store


@checked_keywords
def get_robot(
    name: str,
    cache_dir: str | Path | None = None,
    *,
    backend: str = "numpy",
    output_convention: str = "pinocchio",
    urdf_path: str | Path | None = None,
    _profile_overlay: str | None = "pybind",
    **register_opts: Any,
) -> RobotHandle:
    """Return a handle on a registered robot; needs no compiler and no description.

    Parameters
    ----------
    name : str
    cache_dir : path, optional
    backend : str
        As for :func:`register_robot`; a robot is built once for all of them.
    urdf_path : path, optional
        Registered under the name if there is no such robot, with ``register_opts``. If there is one, it is returned,
        with a warning when it was made from something else.

    Raises
    ------
    RobotNotRegisteredError
        The name is not registered, and no description was given.
    StaleRobotError
        The stored build cannot be used by this process; ``reasons`` says why.
    KeywordError
        Build options without a description; also a TypeError.
    """
    check_backend(backend)
    check_convention(output_convention)
    threads = register_opts.pop("threads", None)
    if register_opts and urdf_path is None:
        raise KeywordError(
            f"get_robot() got build options {sorted(register_opts)} without urdf_path; "
            "a stored robot is as it was built: leave them out, or give its description as urdf_path"
        )
    name, store = checked_name(name), open_store(cache_dir)
    try:
        entry = load_entry(name, store)
    except RobotNotRegisteredError:
        if urdf_path is None:
            raise
        return register_robot(
            name,
            urdf_path,
            cache_dir=cache_dir,
            backend=backend,
            threads=threads,
            output_convention=output_convention,
            **register_opts,
        )
    if urdf_path is not None:
        _warn_if_different(name, entry, make_wish(description_of(urdf_path, None), register_opts).request)
    return adjusted(_stored_handle(entry, store, backend), output_convention, threads)


def _stored_handle(entry: RobotEntry, store: Store, backend: str) -> RobotHandle:
    record = entry.record
    facts = record["facts"]
    if facts["device"] == "reference":
        return reference_handle(entry.name, entry.model, recorded_request(entry.record, store), facts, backend)
    if facts["lazy"]:
        return lazy_handle(
            entry.name, entry.model, recorded_request(entry.record, store), facts, store, entry.units, backend
        )
    return compiled_handle(entry, load_catalogue(tuple(record["plugin_files"])), backend)


def _warn_if_different(name: str, entry: RobotEntry, request: RobotRequest) -> None:
    if entry.record["request"] != request.identity().digest:
        warnings.warn(
            f"robot {name!r} is registered already, from another description, options or version of grid-rbd; "
            "the stored one is returned. Use register_robot to replace it",
            stacklevel=4,
        )
