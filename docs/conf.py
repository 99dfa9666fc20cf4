"""Sphinx configuration; `nox -s docs` builds, a warning is an error."""

from __future__ import annotations

from importlib.metadata import version as installed_version

project = "grid-rbd"
author = "grid-rbd authors"
copyright = "2026, grid-rbd authors"  # noqa: A001 - Sphinx reads this name
release = version = installed_version("grid-rbd")

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"grid-rbd {version}"
