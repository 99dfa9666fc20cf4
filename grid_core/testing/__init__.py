"""For the tests of plugin authors: what an algorithm has to satisfy, a manager without plugins, a store that goes away.

>>> import pytest
>>> from grid_core.testing import conformance
>>>
>>> @pytest.mark.parametrize("case", conformance("grid_pendulum.py"), ids=str)
... def test_conformance(case):
...     case.run()

The bundled families pass the same cases. The package stands beside the layers of the project: it uses what users use.
"""

from grid_core.plugins.asking import empty_manager
from grid_core.testing.conformance import Case, conformance
from grid_core.testing.errors import ConformanceError
from grid_core.testing.inspection import Finding, inspect_plugin
from grid_core.testing.robots import ROBOTS, SampleRobot
from grid_core.testing.stores import temporary_store

__all__ = [
    "ROBOTS",
    "Case",
    "ConformanceError",
    "Finding",
    "SampleRobot",
    "conformance",
    "empty_manager",
    "inspect_plugin",
    "temporary_store",
]
