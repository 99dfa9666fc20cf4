"""The consumer header of a request, kept in the store for the projects that are compiled against it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grid_core.build.builder import check_options
from grid_core.build.models import parsed
from grid_core.build.request import SCHEMA, RobotRequest
from grid_core.model import Model
from grid_core.plugins.sources import core_digest
from grid_store import Entry, Key, Store

HEADER = "grid.hpp"


def header_text(
    request: RobotRequest, model: Model, namespace: str = "grid", sections: Mapping[str, bool] | None = None
) -> str:
    """Return the header of a request.

    Parameters
    ----------
    model : Model
        The robot of the request.
    namespace : str
        C++ namespace.
    sections : mapping of str to bool
        Plugins whose sections the header has, or has not, whatever algorithms are in it.

    Raises
    ------
    OptionError
        An option does not fit the robot, or ``namespace`` is no C++ identifier.
    """
    from grid_core.codegen.render import render_header
    from grid_core.codegen.sections import render_sections

    check_options(request, model)
    names, catalogue, settings = request.units, request.catalogue, request.options.settings
    folders = catalogue.template_folders(names)
    functions = render_header(names, model, catalogue.algorithms, settings, namespace, folders)
    return functions + render_sections(names, model, catalogue, settings, namespace, sections)


def header_key(request: RobotRequest, sections: Mapping[str, bool] | None = None) -> Key:
    """Return the key of a header; nothing is generated for it."""
    names, catalogue, options = request.units, request.catalogue, request.options.to_json()
    del options["dtype"]
    plugins = {name: catalogue.digests(name) for name in names}
    return Key(
        {
            "schema": SCHEMA,
            "kind": "header",
            "description": request.source.data,
            "options": options,
            "algorithms": list(names),
            "core": core_digest(),
            "plugins": plugins,
            "sections": {plugin.name: plugin.digest for plugin, _ in catalogue.sections(names, sections)},
        }
    )


def stored_header(request: RobotRequest, store: Store, sections: Mapping[str, bool] | None = None) -> Entry:
    """Return the entry with the header of a request, generating it unless that was done before.

    Its metadata describes the robot.

    Raises
    ------
    URDFParseError
        The description is not valid.
    OptionError, ArgumentError
        An option does not fit the robot.
    """
    return store.obtain(header_key(request, sections), lambda folder: _write(folder, request, sections))


def _write(folder: Path, request: RobotRequest, sections: Mapping[str, bool] | None) -> dict[str, Any]:
    model = parsed(request)
    text = header_text(request, model, sections=sections)
    (folder / HEADER).write_text(text, "utf-8")
    return {
        "kind": "object",
        "robot": model.name,
        "floating_base": model.floating_base,
        **model.dims,
        "joint_names": list(model.joint_names),
        "algorithms": list(request.units),
    }
