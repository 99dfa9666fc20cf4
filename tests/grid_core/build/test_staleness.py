"""No stale hit: whatever decides what is compiled is part of a key, also when it changes in the middle of a build."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import grid_core
from grid_core.build import RobotRequest, build, make_plan
from grid_core.codegen import render
from grid_core.errors import CompileError
from grid_core.plugins import sources
from grid_core.toolchains import search
from grid_store import PublishError, Store
from tests.grid_core.build.conftest import Stub

Make = Callable[..., RobotRequest]
CORE = Path(grid_core.__file__).parent


@pytest.mark.parametrize(
    "file", ["codegen/templates/unit.cpp.j2", "codegen/runtime/*.hpp", "trace/scalar.py", "codegen/runtime/*.cuh"]
)
def test_an_edited_template_header_or_module_of_the_core_changes_its_digest(file: str, tmp_path: Path) -> None:
    copy = tmp_path / "grid_core"
    shutil.copytree(CORE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = sources.folder_digest(copy)
    assert before == sources.core_digest()
    (found, *_) = sorted(copy.glob(file))
    found.write_text(found.read_text("utf-8").replace("e", "E", 1), "utf-8")
    sources.folder_digest.cache_clear()
    assert sources.folder_digest(copy) != before


def test_an_edited_core_makes_every_unit_stale(
    request_for: Make, store: Store, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(request_for("minv"), store)
    build(plan, store)
    inputs = {unit.algorithm: unit.input_key.components for unit in plan.units}
    monkeypatch.setattr("grid_core.build.request.core_digest", lambda: "edited")
    after = make_plan(request_for("minv"), store, inputs)
    assert [(unit.status, unit.changed) for unit in after.units] == [("stale", ("core",))] * 2
    stub.compiled()
    build(after, store)
    assert stub.compiled() == [], "what is rendered is the same"


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the headers that generated code includes."""
    copy = tmp_path / "runtime"
    shutil.copytree(render.RUNTIME, copy)
    monkeypatch.setattr(render, "RUNTIME", copy)
    return copy


def _edit(header: Path) -> None:
    """Change a header without changing its size or its times."""
    status, text = header.stat(), header.read_text("utf-8")
    header.write_text(text.replace("//", "/*/", 1)[: len(text) - 1] + "\n", "utf-8")

    os.utime(header, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_an_edited_header_compiles_again(request_for: Make, store: Store, stub: Stub, runtime: Path) -> None:
    first = build(make_plan(request_for("crba"), store), store)["crba"]
    stub.compiled()
    _edit(min(runtime.glob("*.hpp")))
    second = build(make_plan(request_for("crba"), store), store, force=True)["crba"]
    assert second.key != first.key
    assert stub.compiled() == ["crba"]


def test_a_header_that_is_edited_while_it_is_compiled_publishes_nothing(
    request_for: Make, store: Store, stub: Stub, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = search.CxxCompiler.compile

    def edit(*arguments: object, **options: object) -> None:
        _edit(min(runtime.glob("*.hpp")))
        real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("grid_core.toolchains.cxx.CxxCompiler.compile", edit)
    with pytest.raises(PublishError, match=r"\.hpp changed while .* was built: build again"):
        build(make_plan(request_for("crba"), store), store)
    assert make_plan(request_for("crba"), store).missing
    assert not [entry for entry in store.entries() if entry.meta["kind"] == "unit"]


@pytest.mark.parametrize("mode", ["fail", "empty", "garbage", "foreign", "killed"])
def test_a_build_that_fails_never_becomes_a_hit(
    request_for: Make, store: Store, stub: Stub, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_MODE", mode)
    for _ in range(2):
        with pytest.raises(CompileError):
            build(make_plan(request_for("crba"), store), store)
        assert [unit.status for unit in make_plan(request_for("crba"), store).units] == ["miss"]
    assert stub.compiled() == ["crba", "crba"], "a failure is not remembered either"
    monkeypatch.setenv("STUB_MODE", "")
    build(make_plan(request_for("crba"), store), store)
    assert not make_plan(request_for("crba"), store).missing
