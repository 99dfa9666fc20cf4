"""Archives: registered robots in one file, for machines without network or compiler."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from grid_core.build.options import flag
from grid_core.build.record import faults
from grid_core.errors import OptionError, RobotNotRegisteredError, nearest
from grid_core.model.xml_source import path_text
from grid_rbd.basics import checked_name, open_store
from grid_rbd.keywords import checked_keywords
from grid_rbd.warming import FACTS
from grid_store import ArchiveError, Store


@checked_keywords
def export_robots(
    output: str | Path, names: Sequence[str] | None = None, cache_dir: str | Path | None = None
) -> dict[str, Any]:
    """Write registered robots into one file, with all that :func:`get_robot` needs of them.

    Parameters
    ----------
    output : path
        The file; it appears when it is complete.
    names : sequence of str, optional
        Default: all robots.
    cache_dir : path, optional

    Returns
    -------
    dict
        ``path, bytes, robots`` (names)``, entries`` (how many).

    Raises
    ------
    RobotNotRegisteredError
        A name is not registered.
    OptionError
        The file cannot be written, or ``names`` is no sequence of names.
    """
    target, store = _file(output, "output"), open_store(cache_dir, strict=True)
    chosen = store.names() if names is None else _names(names)
    for name in chosen:
        if store.resolve(name) is None:
            raise RobotNotRegisteredError(
                name, f"no robot {name!r} is registered in {store.root}{nearest(name, store.names())}"
            )
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as stream:
            entries = store.export(stream, chosen)
        part.replace(target)
    except OSError as error:
        raise OptionError(f"output: {target} cannot be written: {error.strerror}; give another file") from error
    finally:
        part.unlink(missing_ok=True)
    return {"path": str(target), "bytes": target.stat().st_size, "robots": chosen, "entries": len(entries)}


@checked_keywords
def import_robots(archive: str | Path, cache_dir: str | Path | None = None, *, replace: bool = False) -> dict[str, Any]:
    """Take over the robots of a file that :func:`export_robots` wrote.

    Nothing of it is executed or unpickled, and every file is compared with its digest before it is kept. But digests do
    not tell who made the file: as with any program, take archives only from those whom you trust.

    Parameters
    ----------
    archive : path
    cache_dir : path, optional
    replace : bool
        Let names mean what the file says even if they mean something else here.

    Returns
    -------
    dict
        ``cache_dir``; ``entries`` and ``present``, how many were new and how many known; ``robots``, a list of
        ``{"name", "outcome", "reason"}`` with the outcomes ``"registered"``, ``"present"`` and ``"refused"``; ``ok``,
        whether none was refused.

    Raises
    ------
    ArchiveError, CorruptEntryError
        The file is no archive, or damaged.
    """
    source, store, force = _file(archive, "archive"), open_store(cache_dir, strict=True), flag(replace, "replace")
    try:
        with source.open("rb") as stream:
            found = store.take_over(stream)
    except ArchiveError as error:
        raise ArchiveError(f"{source}: {error}") from error
    except FileNotFoundError as error:
        raise OptionError(f"archive: there is no file {str(source)!r}") from error
    except IsADirectoryError as error:
        raise OptionError(f"archive: {source} is a directory, expected a file") from error
    robots = [_bound(name, record, store, force=force) for name, record in found.names.items()]
    return {
        "cache_dir": str(store.root),
        "entries": len(found.entries),
        "present": len(found.present),
        "robots": robots,
        "ok": all(robot["outcome"] != "refused" for robot in robots),
    }


def _bound(name: str, record: Mapping[str, Any], store: Store, *, force: bool) -> dict[str, str]:
    """Bind a name unless that is refused, and say what happened."""
    before = store.resolve(name)
    if before == record:
        return {"name": name, "outcome": "present", "reason": ""}
    reason = _refusal(record)
    if before is not None and not force:
        reason = "the name means another robot here; import with replace to let it mean this one"
    if reason:
        return {"name": name, "outcome": "refused", "reason": reason}
    store.bind(name, record)
    return {"name": name, "outcome": "registered", "reason": ""}


def _refusal(record: Mapping[str, Any]) -> str:
    if reasons := faults(record):
        return "; ".join(reasons)
    if missing := [name for name in FACTS if name not in record["facts"]]:
        return f"its record is broken: its facts lack {', '.join(missing)}"
    if files := record["plugin_files"]:  # a path from elsewhere that would be executed as Python
        return f"it needs the plugin file {files[0]}, which an archive cannot bring; install the plugin as a package"
    return ""


def _names(names: object) -> list[str]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise OptionError(f"names is {names!r:.80}, expected a sequence of names, such as ['arm']")
    return [checked_name(name) for name in names]


def _file(path: object, argument: str) -> Path:
    text = path_text(path)
    if not text or "\0" in text:
        raise OptionError(f"{argument} is {path!r:.80}, expected the path of a file (str or pathlib.Path)")
    return Path(text)
