"""Sphinx configuration; `nox -s docs` builds, a warning is an error."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "grid-rbd"
author = "grid-rbd authors"
copyright = "2026, grid-rbd authors"  # noqa: A001 - Sphinx reads this name
release = version = installed_version("grid-rbd")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "reference"]
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "generated"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say more: shapes, units, meaning
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"grid-rbd {version}"
html_static_path = ["figures"]
