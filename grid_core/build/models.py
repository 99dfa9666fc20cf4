"""Parsed models, kept beside their description so that a warm start reads no XML."""

from __future__ import annotations

from pathlib import Path

from grid_core.build.request import RobotRequest
from grid_core.model import Model
from grid_store import Entry, Store

DESCRIPTION, MODEL = "robot.urdf", "model.json"


def stored_model(request: RobotRequest, store: Store) -> Entry:
    """Return the entry with the model of a request, parsing the description unless that was done before.

    Raises
    ------
    URDFParseError
        The description is not valid.
    """
    return store.obtain(request.model_key(), lambda folder: _write(folder, request))


def read_model(entry: Entry) -> Model:
    """Return the model of an entry."""
    return Model.from_json(entry.verified(MODEL).read_text("utf-8"))


def velocity_width(request: RobotRequest, store: Store) -> int:
    """Return the ``nv`` of a robot, whose description is parsed unless that was done before; nothing is written.

    Raises
    ------
    URDFParseError
        The description is not valid.
    """
    entry = store.get(request.model_key().digest)
    return parsed(request).nv if entry is None else int(entry.meta["nv"])


def parsed(request: RobotRequest) -> Model:
    """Return the model of a request, read from its description."""
    from grid_core.model import load_model

    options = request.options
    return load_model(request.source, floating_base=options.floating_base, follow_mimic=options.follow_mimic)


def _write(folder: Path, request: RobotRequest) -> dict[str, str | int]:
    model = parsed(request)
    (folder / DESCRIPTION).write_bytes(request.source.data)
    (folder / MODEL).write_text(model.to_json(), "utf-8")
    return {"kind": "model", "robot": model.name, "nv": model.nv}
