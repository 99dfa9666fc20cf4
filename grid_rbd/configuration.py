"""The settings of this machine and user, each with where its value comes from."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grid_backends.numpy.threads import VARIABLE as THREADS
from grid_backends.numpy.threads import default_threads
from grid_core.plugins.manager import DISABLE
from grid_core.toolchains.architectures import VARIABLE as CUDA_ARCHS
from grid_core.toolchains.levels import detect_level
from grid_core.toolchains.search import NAMES
from grid_core.toolchains.workers import JOBS_VARIABLE, worker_count
from grid_rbd.basics import open_store
from grid_rbd.gpu_checks import DRIVER
from grid_rbd.progress import QUIET, on_terminal
from grid_store.layout import ENVIRONMENT
from grid_store.tiers.settings import ENVIRONMENT as CONFIGURATION
from grid_store.tiers.settings import FILE, config_folder, load_settings

DEFAULT = "default"


@dataclass(frozen=True)
class Setting:
    """One value that is in effect.

    Attributes
    ----------
    name : str
    value : object
        A JSON value.
    origin : str
        ``"argument"``, ``"environment NAME"``, ``"file PATH"`` or ``"default"``.
    meaning : str
    """

    name: str
    value: Any
    origin: str
    meaning: str


def settings(cache_dir: str | Path | None = None) -> Iterator[Setting]:
    """Yield all settings; ``cache_dir`` is the argument that commands take.

    Raises
    ------
    OptionError
        A variable has a value that it cannot have.
    """
    root = str(open_store(cache_dir).root)
    given = cache_dir is not None and str(cache_dir) != os.environ.get(ENVIRONMENT)
    where = "argument" if given else _origin(ENVIRONMENT)
    yield Setting("cache_dir", root, where, "where robots are kept")
    temporary = next((name for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), None)
    yield Setting("temporary_files", tempfile.gettempdir(), _origin(temporary), "where compilers work")
    yield _variable("cxx", "CXX", list(NAMES), "C++ compiler; the first that works")
    yield _variable("cuda_home", "CUDA_HOME", None, "CUDA toolkit; else nvcc on PATH")
    yield _variable("cuda_archs", CUDA_ARCHS, None, "architectures of every build for GPUs; else that of the GPU")
    yield _variable("libcuda", DRIVER, None, "library of the CUDA driver; else that of the system")
    yield Setting("cpu_level", detect_level(), DEFAULT, "instruction set of builds for the CPU")
    yield Setting("threads", default_threads(), _origin(THREADS), "threads per call")
    yield Setting("build_jobs", worker_count(sys.maxsize), _origin(JOBS_VARIABLE), "compilers that run at once")
    yield _variable("disabled_plugins", DISABLE, "", "plugins to leave out")
    yield from _tiers()
    yield Setting("progress_bar", on_terminal(), _origin(QUIET), "whether builds show a bar")


def _tiers() -> Iterator[Setting]:
    found, folder = load_settings(), config_folder()
    file = folder / FILE
    origin = f"file {file}" if file.exists() else DEFAULT
    yield Setting("config_dir", str(folder), _origin(CONFIGURATION), "where tiers and keys are configured")
    yield Setting(
        "tiers", [tier.url for tier in found.tiers], origin, "where builds are looked for beyond this machine"
    )
    yield Setting("sign_with", found.sign_with, origin, "the key that signs what is left there")
    yield Setting("fallback", found.fallback, origin, "whether what no tier has is compiled here")
    trusted = sorted(path.stem for path in (folder / "trusted").glob("*.pub"))
    yield Setting("trusted_keys", trusted, f"folder {folder / 'trusted'}", "whose records are believed")


def _variable(name: str, variable: str, default: Any, meaning: str) -> Setting:
    return Setting(name, os.environ.get(variable) or default, _origin(variable), meaning)


def _origin(variable: str | None) -> str:
    return f"environment {variable}" if variable and os.environ.get(variable) else DEFAULT
