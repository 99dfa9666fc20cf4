"""What the C++ header has of this family beside its algorithms: a search, which traced code cannot express."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grid_core.plugins import HeaderContents, HeaderSection

TEMPLATES = Path(__file__).parent / "templates"


def values(contents: HeaderContents) -> Mapping[str, Any]:
    """Return what the template is filled with: which joint has which coordinate."""
    return {"joints": [(joint.name, joint.v_index, joint.nv) for joint in contents.model.joints if joint.nv]}


SECTION = HeaderSection("coupling.hpp.j2", ("mass_coupling",), values)
