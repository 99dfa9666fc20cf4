"""Checks of what a machine needs to build and run robots; each says what to do when it fails."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from grid_backends.numpy.threads import default_threads
from grid_core.errors import GridError
from grid_core.plugins.manager import remedy, survey_plugins
from grid_core.toolchains import detect_level, find_compiler, worker_count
from grid_core.version import __version__
from grid_rbd.check import Check
from grid_rbd.gpu_checks import check_gpu, check_nvcc
from grid_rbd.tier_checks import check_tiers
from grid_store.layout import ENVIRONMENT, Layout, absolute, default_root
from grid_store.usable import prepare

LOW_SPACE, NO_SPACE = 1 << 30, 64 << 20
"""Free bytes below which a store gets a warning, and below which it fails. A large robot takes some 50 MB."""

REINSTALL = "reinstall: pip install --force-reinstall --no-cache-dir grid-rbd"


def run_checks(
    *, cache_dir: str | Path | None = None, compiler: str | None = None, plugins: Sequence[str | Path] = ()
) -> Iterator[Check]:
    """Yield one finding after another; an unexpected error of the project becomes a failed check.

    Parameters
    ----------
    cache_dir, compiler, plugins
        As for :func:`~grid_rbd.register_robot`.
    """
    checks: dict[str, Callable[[], Check]] = {
        "versions": _versions,
        "processor": _processor,
        "threads": _threads,
        "compiler": lambda: _compiler(compiler),
        "runner": _runner,
        "nvcc": check_nvcc,
        "gpu": check_gpu,
        "store": lambda: _store(cache_dir),
        "temporary files": _temporary,
        "tiers": check_tiers,
        "plugins": lambda: _plugins(plugins),
    }
    for name, check in checks.items():
        try:
            yield check()
        except GridError as error:
            found, *advice = re.split(r"[;.]\s", str(error), maxsplit=1)
            yield Check(name, "fail", found, *advice)


def _versions() -> Check:
    found = f"grid-rbd {__version__}, Python {platform.python_version()}, NumPy {version('numpy')}"
    missing = [name for name in _required() if not _installed(name)]
    if missing:
        return Check("versions", "fail", f"{found}; missing: {', '.join(missing)}", REINSTALL)
    return Check("versions", "ok", f"{found} on {platform.system()} {platform.machine()}")


def _required() -> list[str]:
    """Return the distributions that every installation needs."""
    lines = requires("grid-rbd") or [] if _installed("grid-rbd") else ["grid-rbd"]
    return [line.partition(">")[0].strip() for line in lines if "extra ==" not in line]


def _installed(distribution: str) -> bool:
    try:
        return bool(version(distribution))
    except PackageNotFoundError:
        return False


def _processor() -> Check:
    level = detect_level()
    if level in ("x86-64-v2", "native"):
        return Check("processor", "warn", f"level {level}", "packs are short without AVX2; a newer processor is faster")
    return Check("processor", "ok", f"level {level}")


def _threads() -> Check:
    jobs = worker_count(os.cpu_count() or 1)
    return Check("threads", "ok", f"{default_threads()} per call, {jobs} parallel compilations")


def _compiler(command: str | None) -> Check:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = find_compiler(command)
    text = f"{found.path}, {found.version.splitlines()[0]}"
    if caught:
        return Check("compiler", "warn", text, f"{caught[0].message}; unset or correct CXX")
    return Check("compiler", "ok", text)


def _runner() -> Check:
    from grid_backends.native import workers

    return Check("runner", "ok", f"compiled, {workers()} worker threads so far")


def _store(cache_dir: str | Path | None) -> Check:
    root = default_root() if cache_dir is None else absolute(cache_dir)
    prepare(Layout(root))
    free = shutil.disk_usage(root).free
    found = f"{root}, {free / 1e9:.1f} GB free"
    elsewhere = f"set {ENVIRONMENT} to a directory "
    if _noexec(root):
        return Check("store", "fail", f"{found}, mounted noexec", f"{elsewhere}on a file system that allows execution")
    if free < NO_SPACE:
        return Check("store", "fail", found, f"free space, or {elsewhere}with more of it")
    if free < LOW_SPACE:
        return Check("store", "warn", found, f"'grid-rbd gc' shows what may go, or {elsewhere}with more space")
    return Check("store", "ok", found)


def _temporary() -> Check:
    folder = Path(tempfile.gettempdir())
    if _noexec(folder):
        advice = "set TMPDIR to a directory on a file system that allows execution: units are tested there"
        return Check("temporary files", "fail", f"{folder}, mounted noexec", advice)
    return Check("temporary files", "ok", str(folder))


def _noexec(folder: Path) -> bool:
    return bool(os.statvfs(folder).f_flag & getattr(os, "ST_NOEXEC", 0))


def _plugins(files: Sequence[str | Path]) -> Check:
    catalogue = survey_plugins(tuple(str(Path(file).resolve()) for file in files))
    found = f"{len(catalogue.plugins)} loaded, {len(catalogue.algorithms)} algorithms"
    if not catalogue.algorithms:
        return Check("plugins", "fail", found, REINSTALL)
    if catalogue.broken:
        broken = "; ".join(f"{plugin.name} ({plugin.origin}): {plugin.reason}" for plugin in catalogue.broken)
        status = "fail" if any(plugin.is_named for plugin in catalogue.broken) else "warn"
        advice = "; ".join(f"{plugin.name}: {remedy(plugin)}" for plugin in catalogue.broken)
        return Check("plugins", status, f"{found}; broken: {broken}", advice)
    return Check("plugins", "ok", found)
