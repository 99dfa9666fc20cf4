"""Archives: registered robots and artifacts in one file, for machines without network or compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grid_consumers import record as artifact_record
from grid_consumers.recipe import is_name as is_artifact_name
from grid_core.build import record as robot_record
from grid_core.build.options import flag
from grid_core.errors import OptionError
from grid_core.model.xml_source import path_text
from grid_rbd.basics import is_name, open_store
from grid_rbd.keywords import checked_keywords
from grid_rbd.selection import selected
from grid_rbd.warming import FACTS
from grid_rbd.whole_file import whole_file
from grid_store import ArchiveError, Bound, Store


@checked_keywords
def export_robots(
    output: str | Path,
    names: Sequence[str] | None = None,
    cache_dir: str | Path | None = None,
    *,
    artifacts: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Write registered robots and artifacts into one file, with all that loading them needs.

    Parameters
    ----------
    output : path
        The file; it appears when it is complete.
    names : sequence of str, optional
        Robots. Without them and ``artifacts``, all robots and artifacts.
    cache_dir : path, optional
    artifacts : sequence of str, optional
        Artifacts of consumer projects, as ``CONSUMER/NAME``.

    Returns
    -------
    dict
        ``path, bytes, robots, artifacts`` (names), ``entries`` (how many).

    Raises
    ------
    RobotNotRegisteredError, ArtifactNotFoundError
        There is none of that name.
    OptionError
        The file cannot be written, or what is given is no sequence of names.
    """
    target, store = _file(output, "output"), open_store(cache_dir, strict=True)
    chosen = selected(names, artifacts, store)
    try:
        if target.is_dir():
            raise OptionError(f"output: {target} is a directory, expected a file; give {target / 'robots.tar.gz'}")
        with whole_file(target) as stream:
            entries = store.export(stream, chosen)
    except OSError as error:
        raise OptionError(f"output: {target} cannot be written: {error.strerror}; give another file") from error
    return {
        "path": str(target),
        "bytes": target.stat().st_size,
        "robots": [bound.name for bound in chosen if bound.consumer is None],
        "artifacts": [str(bound) for bound in chosen if bound.consumer is not None],
        "entries": len(entries),
    }


@checked_keywords
def import_robots(archive: str | Path, cache_dir: str | Path | None = None, *, replace: bool = False) -> dict[str, Any]:
    """Take over the robots and artifacts of a file that :func:`export_robots` wrote.

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
        ``{"name", "outcome", "reason"}`` with the outcomes ``"registered"``, ``"present"`` and ``"refused"``;
        ``artifacts``, the same of artifacts, by ``CONSUMER/NAME``; ``ok``, whether none was refused.

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
    taken = {bound: _bound(bound, record, store, force=force) for bound, record in found.names.items()}
    return {
        "cache_dir": str(store.root),
        "entries": len(found.entries),
        "present": len(found.present),
        "robots": [outcome for bound, outcome in taken.items() if bound.consumer is None],
        "artifacts": [outcome for bound, outcome in taken.items() if bound.consumer is not None],
        "ok": all(outcome["outcome"] != "refused" for outcome in taken.values()),
    }


def _bound(bound: Bound, record: Mapping[str, Any], store: Store, *, force: bool) -> dict[str, str]:
    """Bind a name unless that is refused, and say what happened."""
    outcome = {"name": str(bound), "outcome": "refused", "reason": ""}
    before = store.resolve(bound.name, consumer=bound.consumer)
    if before == record:
        return {**outcome, "outcome": "present"}
    reason = _refusal_of_robot(bound.name, record) if bound.consumer is None else _refusal_of_artifact(bound, record)
    if before is not None and not force:
        reason = "the name means another one here; import with replace to let it mean this one"
    if reason:
        return {**outcome, "reason": reason}
    store.bind(bound.name, record, consumer=bound.consumer)
    return {**outcome, "outcome": "registered"}


def _refusal_of_artifact(bound: Bound, record: Mapping[str, Any]) -> str:
    if not (is_artifact_name(bound.name) and is_artifact_name(str(bound.consumer))):
        return "it is no name of an artifact"
    return "; ".join(artifact_record.faults(record))


def _refusal_of_robot(name: str, record: Mapping[str, Any]) -> str:
    if not is_name(name):
        return "it is no name of a robot"
    if reasons := robot_record.faults(record):
        return "; ".join(reasons)
    if missing := [name for name in FACTS if name not in record["facts"]]:
        return f"its record is broken: its facts lack {', '.join(missing)}"
    if files := record["plugin_files"]:  # a path from elsewhere that would be executed as Python
        return f"it needs the plugin file {files[0]}, which an archive cannot bring; install the plugin as a package"
    return ""


def _file(path: object, argument: str) -> Path:
    text = path_text(path)
    if not text or "\0" in text:
        raise OptionError(f"{argument} is {path!r:.80}, expected the path of a file (str or pathlib.Path)")
    return Path(text)
