"""grid-rbd: from a robot description to the fastest batched rigid-body dynamics for that robot.

>>> import grid_rbd
>>> robot = grid_rbd.load_robot("iiwa14.urdf", algorithm_list="dynamics")  # seconds the first time, milliseconds after
>>> tau = robot.inverse_dynamics(q, qd, qdd)                                # (B, 7)

Importing the package touches no path that it does not read code from, and starts no program. The stub beside this file
lists the public names; each is imported when it is first used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lazy_loader

from grid_core.version import __version__ as __version__
from grid_rbd.one_copy import check_one_copy

check_one_copy(Path(__file__).parent)

_attached, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = sorted([*_names, "__version__"])  # noqa: PLE0605 - the stub has them


def __getattr__(name: str) -> Any:
    """Return a public name, or a class of results such as ``SecondOrderID``; only these need the plugins."""
    if name in _names or not name[:1].isupper():
        return _attached(name)
    from grid_rbd.results import declared_result

    return declared_result(name)
