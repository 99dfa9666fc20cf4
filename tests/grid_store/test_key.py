"""Keys are stable: across orders, types that mean the same, clocks, and versions of Python."""

from __future__ import annotations

import enum
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid_store import Key, KeyComponentError, differences

GOLDEN = [
    ({"a": None}, "f3f424efe7511b0d234807b6d0730a08a12c984761f44d8af6573d4dc92ab2b2"),
    (
        {"flag": True, "count": 1, "width": 0.05, "tiny": 5e-324, "big": 10**40},
        "34f189c01c14cf8beb9e27c71bcda0c8ab4c2800720329e080ed5a1fab90f89e",
    ),
    (
        {"text": "gelenk 1 é \U0001f916", "empty": ""},
        "fdf8ab9edd11a0035e6f7264721aeaed9a076230120e16378cae04c084c6a9e2",
    ),
    (
        {"source": b"\x00\xff", "options": {"b": [1, 2.5, None], "a": {"deep": b"raw"}}},
        "cc45bd7afc0d412bfa5e98564594550c96a8176be5437d8040c9c514bc4dcc0a",
    ),
]
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.from_regex(r"[a-z]+", fullmatch=True), inner, max_size=3)
    ),
    max_leaves=8,
)


class Level(str, enum.Enum):
    V3 = "x86-64-v3"


class Width(enum.IntEnum):
    FOUR = 4


@pytest.mark.parametrize(("components", "digest"), GOLDEN)
def test_golden_vectors_hold_on_every_python(components: dict[str, object], digest: str) -> None:
    assert Key(components).digest == digest


def test_order_of_components_and_members_does_not_matter() -> None:
    left = Key({"a": {"x": 1, "y": 2}, "b": 2})
    assert left == Key({"b": 2, "a": {"y": 2, "x": 1}})
    assert hash(left) == hash(Key({"b": 2, "a": {"y": 2, "x": 1}}))
    assert list(left.components) == ["a", "b"]


@settings(deadline=None)
@given(values, values)
def test_different_values_have_different_digests(left: object, right: object) -> None:
    assert (Key({"v": left}) == Key({"v": right})) == _equal(left, right)


def _equal(left: object, right: object) -> bool:
    """Equality that tells 1 from True and 1.0, and 0.0 from -0.0, at any depth; mappings have no order."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    return repr(left) == repr(right)


def test_a_tuple_is_a_list_and_subclasses_count_as_what_they_extend() -> None:
    assert Key({"v": (1, 2)}) == Key({"v": [1, 2]})
    assert Key({"v": [Level.V3, Width.FOUR, np.float64(0.1)]}) == Key({"v": ["x86-64-v3", 4, 0.1]})


def test_a_file_is_its_content(tmp_path: Path) -> None:
    (tmp_path / "a.urdf").write_bytes(b"<robot/>")
    (tmp_path / "b.urdf").write_bytes(b"<robot/>")
    assert Key({"description": tmp_path / "a.urdf"}) == Key({"description": tmp_path / "b.urdf"})
    assert Key({"description": tmp_path / "a.urdf"}) == Key({"description": b"<robot/>"})
    assert Key({"headers": {"a": tmp_path / "a.urdf"}}) == Key({"headers": {"a": b"<robot/>"}})


def test_same_size_edit_within_a_clock_tick_changes_the_key(tmp_path: Path) -> None:
    path = tmp_path / "header.h"
    path.write_text("int a;")
    before, status = Key({"h": path}), path.stat()
    path.write_text("int b;")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert Key({"h": path}) != before
    assert before.changed_files() == [path]


def test_a_deleted_input_counts_as_changed(tmp_path: Path) -> None:
    path = tmp_path / "header.h"
    path.write_text("int a;")
    key = Key({"h": [path]})
    assert key.changed_files() == []
    path.unlink()
    assert key.changed_files() == [path]


def test_the_environment_leaves_the_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Key({"a": 1})
    monkeypatch.setenv("SOME_RANDOM_VARIABLE", "1")
    assert Key({"a": 1}) == before


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, {1, 2}, object(), {1: 2}, {"\0sha256": "x"}, np.zeros(2), [{"a": 1j}]]
)
def test_values_without_a_stable_encoding_are_refused_by_name(value: object) -> None:
    with pytest.raises(KeyComponentError, match="'options'"):
        Key({"options": value})


@pytest.mark.parametrize("components", [{}, {"": 1}, {"two words": 1}, {"line\n": 1}])
def test_bad_components_are_refused(components: dict[str, object]) -> None:
    with pytest.raises(KeyComponentError):
        Key(components)


def test_differences_name_the_components_with_both_digests() -> None:
    left, right = Key({"same": 1, "flags": "-O2", "old": 1}), Key({"same": 1, "flags": "-O3", "new": 1})
    found = {d.name: (d.left, d.right) for d in differences(left, right.components)}
    assert found == {
        "flags": (left.components["flags"], right.components["flags"]),
        "new": (None, right.components["new"]),
        "old": (left.components["old"], None),
    }
    assert differences(left, left) == []
