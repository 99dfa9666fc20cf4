"""Artifacts in tiers: what one builds and signs, another loads without compiling."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("cryptography")

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
