"""Robot descriptions in, one ordered rigid-body model out.

>>> model = load_model("iiwa14.urdf", floating_base=False)  # doctest: +SKIP
>>> model.joint_names, model.nq, model.nv  # doctest: +SKIP
"""

from __future__ import annotations

from grid_core.model.findings import URDFWarning
from grid_core.model.load import load_model
from grid_core.model.model import Body, Frame, Joint, Model
from grid_core.model.physical import UnphysicalInertiaWarning
from grid_core.model.placement import Placement

__all__ = ["Body", "Frame", "Joint", "Model", "Placement", "URDFWarning", "UnphysicalInertiaWarning", "load_model"]
