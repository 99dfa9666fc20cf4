"""The plugin contract: declarations, hooks, and the manager that collects them."""

from grid_core.plugins.algorithm import Absent, Algorithm, Input, Jacobian, Output, resolve
from grid_core.plugins.header import HeaderContents, HeaderSection
from grid_core.plugins.hookspecs import hookimpl

__all__ = [
    "Absent",
    "Algorithm",
    "HeaderContents",
    "HeaderSection",
    "Input",
    "Jacobian",
    "Output",
    "hookimpl",
    "resolve",
]
