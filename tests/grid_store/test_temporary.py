"""A root that cannot be used: one warning and a temporary place, or an error for those who are strict."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grid_store import Key, Store, StoreDegradedWarning, StoreUnavailableError

Produce = Callable[[Path], dict[str, Any]]
Run = Callable[..., str]

DEGRADED = """
import warnings
drop(65534)
key, stored = Key({"new": 1}), Key({"stored": 1})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    store = Store(*sys.argv[1:2])
    seen = store.get(stored.digest)
    entry = store.obtain(key, produce)
    entry.verified("robot.so")
    store.record(stored, entry.key)
    store.bind("robot", {"content": entry.key})
    with store.lease(entry.key):
        pass
    again = Store(*sys.argv[1:2])
    assert again.obtain(key, None).directory == entry.directory
    assert again.resolve("robot") == {"content": entry.key}
    assert again.lookup(stored.digest).content == entry.key
    assert "robot" in again.names()
    assert entry.key in [e.key for e in again.entries()]
strict = Store(*sys.argv[1:2], strict=True)
refused = 0
for use in (lambda: strict.obtain(key, produce), lambda: strict.bind("x", {}), lambda: strict.gc(execute=True)):
    try:
        use()
    except StoreUnavailableError:
        refused += 1
print(json.dumps({
    "seen": seen is not None,
    "place": str(entry.directory),
    "mode": entry.directory.stat().st_mode & 0o777,
    "warnings": [(w.category.__name__, str(w.message), w.filename) for w in caught],
    "refused": refused,
}))
"""


def _check(output: str, tmp_path: Path, root: str, *, seen: bool) -> None:
    report = json.loads(output)
    assert report["seen"] == seen
    assert report["refused"] == 3
    assert report["mode"] == 0o700
    assert [(kind, place) for kind, _, place in report["warnings"]] == [("StoreDegradedWarning", "<string>")]
    assert root in report["warnings"][0][1]
    assert not Path(report["place"]).exists(), "the temporary place outlived its process"


@pytest.fixture
def place(open_path: Path) -> Path:
    """Where processes of other users put temporary files."""
    (open_path / "tmp").mkdir()
    (open_path / "tmp").chmod(0o1777)
    return open_path / "tmp"


def _stored(root: Path) -> Store:
    store = Store(root, strict=True)
    store.obtain(Key({"stored": 1}), lambda directory: {"size": (directory / "robot.so").write_bytes(b"content")})
    store.bind("old", {})
    return store


def test_a_root_without_permission_to_write(run: Run, open_path: Path, place: Path) -> None:
    root = _stored(open_path / "root").root
    for path in [root, *root.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    _check(run(DEGRADED, root, TMPDIR=str(place)), place, str(root), seen=True)


def test_a_root_without_permission_to_read(run: Run, open_path: Path, place: Path) -> None:
    root = _stored(open_path / "root").root
    root.chmod(0o000)
    _check(run(DEGRADED, root, TMPDIR=str(place)), place, str(root), seen=False)
    root.chmod(0o700)


def test_a_root_that_cannot_be_made(run: Run, open_path: Path, place: Path) -> None:
    (open_path / "prefix").mkdir()
    (open_path / "prefix").chmod(0o555)
    root = open_path / "prefix" / "a" / "root"
    _check(run(DEGRADED, root, TMPDIR=str(place)), place, str(root), seen=False)


def test_a_root_that_is_a_file(run: Run, open_path: Path, place: Path) -> None:
    (open_path / "file").touch()
    _check(run(DEGRADED, open_path / "file", TMPDIR=str(place)), place, str(open_path / "file"), seen=False)
    _check(run(DEGRADED, open_path / "file" / "x", TMPDIR=str(place)), place, str(open_path / "file"), seen=False)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user without a home")
def test_no_home_and_no_passwd_entry(run: Run, place: Path) -> None:
    script = DEGRADED.replace(
        "drop(65534)", "drop(54321); [os.environ.pop(n, None) for n in ('HOME', 'XDG_CACHE_HOME')]"
    )
    _check(run(script, TMPDIR=str(place), GRID_RBD_CACHE_DIR=""), place, "no home directory", seen=False)


def test_home_unset_is_no_reason_to_degrade(run: Run) -> None:
    output = run(
        """
        import pwd
        [os.environ.pop(n, None) for n in ("HOME", "XDG_CACHE_HOME", "GRID_RBD_CACHE_DIR")]
        home = pwd.getpwuid(os.getuid()).pw_dir
        print(Store().root.is_relative_to(home))
        """
    )
    assert output == "True"


def test_a_read_only_mount_serves_what_it_has(
    mount: Callable[[str], Path], key: Key, produce: Produce, never: Produce
) -> None:
    root = mount("size=4m")
    stored = _stored(root)
    subprocess.run(["mount", "-o", "remount,ro", str(root)], check=True)
    entry = stored.obtain(Key({"stored": 1}), never)
    assert entry.verified("robot.so").read_bytes() == b"content"
    with stored.lease(entry.key):
        assert stored.gc()["entries_kept"] == 1
    assert stored.names() == ["old"]
    with pytest.raises(StoreUnavailableError, match="GRID_RBD_CACHE_DIR"):
        stored.obtain(key, produce)
    tolerant = Store(root)
    with pytest.warns(StoreDegradedWarning):
        built = tolerant.obtain(key, produce)
    assert not built.directory.is_relative_to(root)
    assert tolerant.obtain(key, never) == built
    with tolerant.lease(built.key), tolerant.lease(entry.key):
        assert {e.key for e in tolerant.entries()} == {built.key, entry.key}


def test_without_any_place_the_error_says_so(run: Run, open_path: Path) -> None:
    open_path.chmod(0o555)
    output = run(
        """
        drop(65534)
        tempfile.tempdir = sys.argv[1] + "/missing"
        try:
            Store(sys.argv[1] + "/root").obtain(Key({"a": 1}), produce)
        except StoreUnavailableError as error:
            print(error)
        """,
        open_path,
    )
    assert "a temporary place cannot be made either" in output
    open_path.chmod(0o755)
