"""A plugin's own template: it extends the core's, and reaches the plugin's units only."""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from grid_core.build import BuildOptions, RobotRequest, build, make_plan, make_request
from grid_core.build.targets import CpuTarget, CudaTarget, UnitInputs
from grid_core.codegen.render import render_unit
from grid_core.model import load_model
from grid_core.plugins import sources
from grid_core.plugins.manager import load_catalogue, survey_plugins
from grid_store import Store
from tests.grid_core.plugins.conftest import SOURCE as PLUGIN
from tests.grid_core.units import PENDULUM, Unit

HOOK = """
import dataclasses, pathlib

@hookimpl
def grid_template_folders():
    return [str(pathlib.Path(__file__).parent / "templates")]

_declare = grid_algorithms
@hookimpl
def grid_algorithms():
    return [dataclasses.replace(a, template="toy_unit.j2") for a in _declare()]
"""
TEMPLATE = """{% extends "unit.cpp.j2" %}
{% block includes %}
#define TOY_ANSWER 42
{% endblock %}
{% block exports %}
extern "C" __attribute__((visibility("default"))) int toy_answer() { return TOY_ANSWER; }
{% endblock %}
"""
KERNEL = (
    "{% macro functions(kernel, qualifier) %}#error only for the toy{% endmacro %}"
    "{% macro arguments(function) %}{% endmacro %}"
)


def test_a_template_extends_the_unit(plugin_file: Callable[..., str], tmp_path: Path) -> None:
    path = plugin_file("toy", PLUGIN + HOOK.replace("{", "{{").replace("}", "}}"))
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "toy_unit.j2").write_text(TEMPLATE)
    (folder / "kernel.j2").write_text(KERNEL)
    request = make_request(PENDULUM, BuildOptions(dtype="float64"), algorithm_list="toy", plugin_files=[path])
    assert "only for the toy" not in _rendered(request, "crba")
    assert "only for the toy" in _rendered(request, "toy")
    (folder / "kernel.j2").unlink()

    store = Store(tmp_path / "store", strict=True)
    entry = build(make_plan(request, store), store)["toy"]
    assert entry.path(CpuTarget.source).read_text().count("TOY_ANSWER") == 2
    assert ctypes.CDLL(str(entry.path(CpuTarget.unit))).toy_answer() == 42
    unit = Unit(entry.path(CpuTarget.unit))
    np.testing.assert_array_equal(unit("toy", {"x": np.array([[1.0, 2.0]])}, 1)["y"], [[2.0, 4.0]])

    (folder / "toy_unit.j2").write_text(TEMPLATE.replace("42", "43"))
    load_catalogue.cache_clear()
    survey_plugins.cache_clear()
    sources.folder_digest.cache_clear()
    again = make_request(PENDULUM, BuildOptions(dtype="float64"), algorithm_list="toy", plugin_files=[path])
    assert [u.status for u in make_plan(again, store).units] == ["miss"], "an edited template changes the key"


CUDA_TEMPLATE = """{% extends "unit.cu.j2" %}
{% block includes %}
#define TOY_ANSWER 42
{% endblock %}
{% block exports %}
extern "C" __global__ void toy_answer(int* out) { *out = TOY_ANSWER; }
{% endblock %}
"""


def _cuda_plugin(plugin_file: Callable[..., str], tmp_path: Path) -> str:
    hook = HOOK.replace("template=", "cuda_template=").replace("{", "{{").replace("}", "}}")
    path = plugin_file("toy", PLUGIN + hook)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "toy_unit.j2").write_text(CUDA_TEMPLATE)
    return path


def test_units_for_cuda_have_a_template_of_their_own(plugin_file: Callable[..., str], tmp_path: Path) -> None:
    path = _cuda_plugin(plugin_file, tmp_path)
    request = make_request(PENDULUM, BuildOptions(), algorithm_list="toy", plugin_files=[path], level="sm_90")
    catalogue, model = request.catalogue, load_model(request.source)
    texts = {}
    for name in ("toy", "crba"):
        folders = catalogue.template_folders([name])
        algorithm, settings = catalogue.algorithms[name], request.options.settings
        inputs = UnitInputs(algorithm, model, catalogue.algorithms, request.options, folders, "sm_90")
        texts[name] = CudaTarget().render(inputs)["unit.cu"]
        assert "TOY_ANSWER" not in render_unit(algorithm, model, catalogue.algorithms, settings, "float32", folders)
    assert texts["toy"].count("TOY_ANSWER") == 2
    assert "TOY_ANSWER" not in texts["crba"]


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_a_template_of_a_unit_for_cuda_is_compiled(plugin_file: Callable[..., str], tmp_path: Path) -> None:
    path = _cuda_plugin(plugin_file, tmp_path)
    request = make_request(PENDULUM, BuildOptions(), algorithm_list="toy", plugin_files=[path], level="sm_90")
    store = Store(tmp_path / "store", strict=True)
    entry = build(make_plan(request, store), store)["toy"]
    assert b"toy_answer" in entry.path(CudaTarget.unit).read_bytes()


def _rendered(request: RobotRequest, name: str) -> str:
    catalogue, model = request.catalogue, load_model(request.source)
    folders = catalogue.template_folders([name])
    return render_unit(
        catalogue.algorithms[name], model, catalogue.algorithms, request.options.settings, "float64", folders
    )
