"""From a request to stored units: keys, plans, builds, and the robot entries that name the result."""

from grid_core.build.builder import Event, Progress, build, build_unit
from grid_core.build.entry import RobotEntry, load_entry
from grid_core.build.job import BuiltUnit, UnitJob, distribute, job_of, run_job
from grid_core.build.options import BuildOptions
from grid_core.build.plan import Plan, UnitPlan, make_plan
from grid_core.build.request import RobotRequest, make_request

__all__ = [
    "BuildOptions",
    "BuiltUnit",
    "Event",
    "Plan",
    "Progress",
    "RobotEntry",
    "RobotRequest",
    "UnitJob",
    "UnitPlan",
    "build",
    "build_unit",
    "distribute",
    "job_of",
    "load_entry",
    "make_plan",
    "make_request",
    "run_job",
]
