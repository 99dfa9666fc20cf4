"""Loads the module of a plugin: that of an entry point, a file, or the folder of a package."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

from grid_core.errors import GridError, PluginError

PACKAGE = "__init__.py"


def local_file(path: Path) -> Path:
    """Return the file that a local plugin begins in: itself, or that of the package whose folder it is.

    Raises
    ------
    PluginError
        There is neither.
    """
    if path.is_dir():
        if not (path / PACKAGE).is_file():
            packages = [str(file.parent) for depth in ("*", "*/*") for file in path.glob(f"{depth}/{PACKAGE}")]
            inside = [*packages, *map(str, path.glob("*.py"))]
            hint = f"; inside are {', '.join(sorted(inside)[:3])}" if inside else ""
            raise PluginError(f"{path} is no package, since it has no {PACKAGE}; give the folder of a package{hint}")
        return path / PACKAGE
    if not path.is_file():
        raise PluginError(
            f"plugin file {path} does not exist; give the path of a Python file with grid_rbd hooks, or the folder of "
            "a package"
        )
    return path


def load_local(path: Path) -> ModuleType:
    """Import a plugin file under a name of its own, or a package under that of its folder."""
    return _load_package(path) if path.is_dir() else _load_file(path)


def load_entry_point(point: EntryPoint) -> ModuleType:
    """Import what an entry point names."""
    loaded = point.load()
    if not isinstance(loaded, ModuleType):
        raise PluginError(f"entry point {point.value!r} is not a module; point it at the module that has the hooks")
    return loaded


def reason_of(error: BaseException) -> str:
    """Return what went wrong in a plugin: the error, for those of Python with its place and what to do."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, GridError):
        return text
    if isinstance(error, SyntaxError):
        return f"{text}; correct that line"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename]
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    fix = "install what it imports, or correct the import" if isinstance(error, ImportError) else "correct that line"
    return f"{text}{place}; {fix}"


def _load_file(path: Path) -> ModuleType:
    return _executed(f"grid_rbd_plugin_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}", path)


def _load_package(folder: Path) -> ModuleType:
    name, file = folder.name, folder / PACKAGE
    known = sys.modules.get(name)
    if known is None:
        return _executed(name, file, folder)
    if Path(known.__file__ or "").resolve() != file:
        raise PluginError(
            f"{folder} is a package {name!r}, and this process has imported another one of that name from "
            f"{known.__file__ or 'elsewhere'}; rename the package, or uninstall the other one"
        )
    return known


def _executed(name: str, file: Path, folder: Path | None = None) -> ModuleType:
    """Import a file under a name; if that fails nothing stays imported."""
    inside = None if folder is None else [str(folder)]
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=inside)
    if spec is None or spec.loader is None:
        raise PluginError(f"{file} cannot be imported; a plugin file ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        for imported in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
            del sys.modules[imported]
        raise
    return module
