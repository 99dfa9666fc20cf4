"""What ``pyproject.toml`` cannot say: packages under several source roots, and the native runner.

The runner is optional: without a C++ compiler the package still installs, and only ``device="reference"`` works.
"""

from __future__ import annotations

from pathlib import Path

from pybind11.setup_helpers import ParallelCompile, Pybind11Extension
from setuptools import find_packages, setup

ROOTS = {
    "grid_rbd": ".",
    "grid_consumers": "consumers",
    "grid_backends": "backends",
    "grid_plugins": ".",
    "grid_core": ".",
    "grid_store": "store",
}
"""Top-level import package -> the source root that holds it."""

DATA = ["py.typed", "**/*.pyi", "**/*.j2", "**/*.h", "**/*.hpp", "**/*.cuh", "**/*.urdf", "jax/*.cpp"]
NATIVE = Path("backends/grid_backends/native")
RUNTIME = Path("grid_core/codegen/runtime")


def packages() -> list[str]:
    """Return every import package of the distribution."""
    return [name for top, root in ROOTS.items() for name in find_packages(root, include=[top, f"{top}.*"])]


def runner() -> Pybind11Extension:
    """Return the extension that loads compiled units and calls them."""
    return Pybind11Extension(
        "grid_backends.native._runner",
        sources=sorted(str(path) for path in NATIVE.glob("*.cpp")),
        depends=sorted(str(path) for path in [*NATIVE.glob("*.hpp"), *RUNTIME.glob("*.h")]),
        include_dirs=[str(RUNTIME)],
        extra_compile_args=["-O2", "-pthread"],
        extra_link_args=["-pthread"],
        libraries=["dl"],
        cxx_std=17,
        optional=True,
    )


with ParallelCompile("GRID_RBD_BUILD_JOBS"):
    setup(
        packages=packages(),
        package_dir={top: f"{root}/{top}" for top, root in ROOTS.items()},
        include_package_data=False,
        package_data=dict.fromkeys(ROOTS, DATA),
        ext_modules=[runner()],
    )
