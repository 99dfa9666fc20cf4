"""The environment variables of the project whose values can be wrong."""

from __future__ import annotations

from grid_backends.numpy.threads import default_threads
from grid_core.toolchains.architectures import requested_architectures
from grid_core.toolchains.workers import requested_jobs
from grid_rbd.progress import is_quiet


def check_environment() -> None:
    """Read every variable, so that one which is wrong is told at once, and not when its value is first needed.

    Raises
    ------
    OptionError
        A variable has a value that it cannot have.
    """
    for read in (requested_jobs, default_threads, requested_architectures, is_quiet):
        read()
