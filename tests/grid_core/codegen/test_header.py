"""The consumer header: it compiles anywhere, gives the units' numbers, and says what it has."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from grid_core.codegen.render import render_header
from grid_core.errors import OptionError
from grid_core.kernel import evaluate, trace_algorithm
from grid_core.kernel.builder import variants
from grid_core.kernel.settings import TraceSettings
from grid_core.model import Model, load_model
from grid_core.plugins.manager import load_catalogue
from tests.grid_core.units import GOLDEN

COMPILERS = [c for c in ("g++", "clang++") if shutil.which(c)]
NAMES = ("inverse_dynamics", "crba", "forward_dynamics_gradient")


def header_of(model: Model, names: tuple[str, ...] = NAMES, **options: Any) -> str:
    catalogue = load_catalogue()
    return render_header(catalogue.closure(names), model, catalogue.algorithms, TraceSettings(), **options)


def compile_text(compiler: str, text: str, folder: Path, *options: str) -> Path:
    folder.mkdir(exist_ok=True)
    source, library = folder / "use.cpp", folder / "use.so"
    source.write_text(text)
    flags = ["-std=c++17", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-pedantic", *options]
    done = subprocess.run(
        [compiler, *flags, str(source), "-o", str(library)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:3000]
    return library


@pytest.mark.parametrize("compiler", COMPILERS)
def test_functions_of_one_sample_give_the_numbers_of_the_kernels(
    compiler: str, pendulum: Model, tmp_path: Path
) -> None:
    (tmp_path / "grid.hpp").write_text(header_of(pendulum))
    algorithms = load_catalogue().algorithms
    kernels = [
        trace_algorithm(algorithms[n], pendulum, algorithms, None, a) for n in NAMES for a in variants(algorithms[n])
    ]
    lines = ['#include "grid.hpp"', '#include "grid.hpp"']
    for kernel in kernels:
        name = kernel.name.partition("_without_")[0]
        inputs = ", ".join(f"in[{i}]" for i in range(len(kernel.inputs)))
        lines.append(
            f'extern "C" void {kernel.name}(const double* const* in, double* out) {{ '
            f"double ws[grid::{name}_scratch()]; grid::{name}<double>({inputs}, out, ws); }}"
        )
    library = ctypes.CDLL(str(compile_text(compiler, "\n".join(lines) + "\n", tmp_path, f"-I{tmp_path}")))
    random = np.random.default_rng(1)
    for kernel in kernels:
        given: dict[str, NDArray[Any]] = {a.name: random.normal(size=(1, a.size)) for a in kernel.inputs}
        ((output, expected),) = evaluate(kernel, given).items()
        found = np.full(kernel.outputs[0].size, np.nan)
        pointers = (ctypes.c_void_p * len(given))(*(a.ctypes.data for a in given.values()))
        getattr(library, kernel.name)(pointers, ctypes.c_void_p(found.ctypes.data))
        np.testing.assert_allclose(found, expected[0], rtol=1e-12, atol=1e-13, err_msg=f"{kernel.name}: {output}")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_two_robots_in_one_translation_unit(compiler: str, pendulum: Model, tmp_path: Path) -> None:
    other = load_model(GOLDEN / "double_pendulum_continuous.urdf", floating_base=True)
    (tmp_path / "one.hpp").write_text(header_of(pendulum, ("crba",), namespace="one"))
    (tmp_path / "two.hpp").write_text(header_of(other, ("crba",), namespace="Two_2"))
    text = """
        #include "one.hpp"
        #include "two.hpp"
        static_assert(GRID_HEADER_ABI_SERVES(2, 0), "");
        static_assert(!GRID_HEADER_ABI_SERVES(1, 0) && !GRID_HEADER_ABI_SERVES(2, 99), "");
        static_assert(GRID_HAS_CRBA == 1, "");
        #ifdef GRID_HAS_MINV
        #error "not asked for"
        #endif
        static_assert(one::NUM_POS == 2 && one::NUM_VEL == 2 && one::NUM_BODIES == 2 && !one::FLOATING_BASE, "");
        static_assert(Two_2::NUM_POS == 9 && Two_2::NUM_VEL == 8 && Two_2::NUM_BODIES == 3 && Two_2::FLOATING_BASE, "");
        static_assert(one::model::parent(0) == -1 && one::model::parent(1) == 0, "");
        static_assert(Two_2::model::q_index(1) == 7 && Two_2::model::v_index(1) == 6, "");
        static_assert(one::model::joint_name(0)[0] == 'j', "");
        void both(const float* q, const float* g, float* M, float* ws) {
            one::crba<float>(q, g, M, ws);
            Two_2::crba<float>(q, g, M, ws);
        }
    """
    compile_text(compiler, text, tmp_path, f"-I{tmp_path}")


def test_the_header_of_an_arm_is_small_and_self_contained() -> None:
    algorithms = {name: a for name, a in load_catalogue().algorithms.items() if a.family == "dynamics"}
    text = header_of(load_model(GOLDEN / "iiwa14.urdf"), tuple(algorithms))
    assert len(text.encode()) < 400_000
    included = set(re.findall(r"#include\s+(\S+)", text))
    assert all(name.startswith("<") for name in included), included
    assert "Generated by grid-rbd; do not edit." in text
    for name, algorithm in algorithms.items():
        assert f"#define GRID_HAS_{name.upper()} 1" in text
        assert f"// {algorithm.summary}" in text


@pytest.mark.parametrize(
    "namespace", ["", "2d", "a b", "a::b", "class", "namespace", "größe", "a;", "std", "gm", "__x", "a__b", "_x"]
)
def test_namespaces_are_identifiers(namespace: str, pendulum: Model) -> None:
    with pytest.raises(OptionError, match=r"namespace is '.*', expected a C\+\+ identifier such as 'grid'"):
        header_of(pendulum, ("crba",), namespace=namespace)
