"""Artifacts in tiers: what one builds and signs, another loads without compiling."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("cryptography")

import grid_rbd
from grid_store import NotInTiersError
from grid_store.tiers import TierSettings
from tests.grid_consumers.conftest import Project, weighted_mass
from tests.grid_store.tiers.people import Person


def test_what_one_builds_another_does_not_compile(
    project: Project,
    builder: Person,
    user: Person,
    shared: Path,
    compiled_files: list[str],
) -> None:
    builder.store(TierSettings(shared.as_uri(), write=True))
    built = project.build(cache_dir=builder.root)
    assert sorted(compiled_files) == ["helper.cpp", "use.cpp"]

    user.store(TierSettings(shared.as_uri()), fallback=False)
    found = project.build(cache_dir=user.root)
    assert (found.compiled, found.content_key) == (False, built.content_key)
    assert len(compiled_files) == 2
    assert found.path.is_relative_to(user.root)
    assert (weighted_mass(found, [0.1, 0.2]) == weighted_mass(built, [0.1, 0.2])).all()

    project.write("helper.cpp", "")
    with pytest.raises(NotInTiersError, match="compiling it here is forbidden"):
        project.build(cache_dir=user.root)


def test_plans_know_what_tiers_have(project: Project, builder: Person, user: Person, shared: Path) -> None:
    builder.store(TierSettings(shared.as_uri(), write=True))
    project.build(cache_dir=builder.root)
    user.store(TierSettings(shared.as_uri()))
    assert project.plan(cache_dir=user.root)["tier"] is None, "before there is a header, nobody knows what to ask for"
    project.build("other", cache_dir=user.root, defines={"VERSION": 4})
    plan = project.plan(cache_dir=user.root)
    assert (plan["cached"], plan["tier"]) == (False, shared.as_uri())
    assert plan["would"] == f"copy from {shared.as_uri()} (it has not been built before)"


def test_an_artifact_that_was_built_before_is_pushed(
    project: Project, builder: Person, user: Person, shared: Path, compiled_files: list[str]
) -> None:
    project.build(cache_dir=builder.root)
    builder.store(TierSettings(shared.as_uri(), write=True))
    report = grid_rbd.push_robots(artifacts=["planner/arm"], cache_dir=builder.root)
    assert (report["robots"], report["artifacts"]) == ([], ["planner/arm"])
    assert [tier["written"] for tier in report["tiers"]] == [1]
    compiled_files.clear()
    user.store(TierSettings(shared.as_uri()), fallback=False)
    assert not project.build(cache_dir=user.root).compiled
    assert compiled_files == []
