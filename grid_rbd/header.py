"""The consumer header of a robot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grid_core.build.header import header_text
from grid_core.build.models import parsed
from grid_rbd.basics import checked_text
from grid_rbd.keywords import checked_keywords
from grid_rbd.wishes import description_of, make_wish


@checked_keywords
def generate_header(
    urdf_path: str | Path | None = None, *, urdf_string: str | None = None, namespace: str = "grid", **opts: Any
) -> str:
    """Return ``grid.hpp``: the robot's algorithms as C++17 functions of one sample, for host and CUDA device code.

    Nothing is compiled, and the store is not touched.

    Parameters
    ----------
    urdf_path, urdf_string : path or str
        The description, exactly one of both.
    namespace : str
        C++ namespace; another one for each robot of a translation unit.
    **opts
        As for :func:`~grid_rbd.register_robot`. ``dtype`` has no meaning: the functions are templates over the scalar.

    Raises
    ------
    URDFParseError
        The description is not valid.
    OptionError
        An option is not valid, or ``namespace`` is no C++ identifier.
    """
    namespace = checked_text(namespace, "namespace", "a C++ identifier such as 'grid'")
    request = make_wish(description_of(urdf_path, urdf_string), opts).request
    return header_text(request, parsed(request), namespace)
