"""Archives: complete, portable, and harmless whoever wrote them."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grid_store import ArchiveError, Bound, CorruptEntryError, Entry, Key, Store, StoreError
from grid_store.archive import HEADER

Produce = Callable[[Path], dict[str, Any]]
REQUEST = Key({"input": 1})
Members = list[tuple[tarfile.TarInfo, bytes]]


@pytest.fixture
def entry(store: Store, key: Key, produce: Produce) -> Entry:
    """What a name and a request lead to, beside something that nobody mentions."""
    entry = store.obtain(key, produce)
    store.record(REQUEST, entry.key, algorithm="crba")
    store.bind("arm/left", {"units": {"crba": entry.key}})
    store.obtain(Key({"other": 1}), produce)
    return entry


@pytest.fixture
def archive(store: Store, entry: Entry) -> bytes:
    stream = io.BytesIO()
    assert store.export(stream, [Bound("arm/left")]) == [entry]
    return stream.getvalue()


@pytest.fixture
def other(tmp_path: Path) -> Store:
    return Store(tmp_path / "other", strict=True)


def _members(archive: bytes) -> Members:
    with tarfile.open(fileobj=io.BytesIO(archive)) as source:
        found = [(member, source.extractfile(member)) for member in source]
        return [(member, stream.read() if stream else b"") for member, stream in found]


def _packed(members: Members) -> io.BytesIO:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as target:
        for member, data in members:
            if member.isreg():
                member.size = len(data)
            target.addfile(member, io.BytesIO(data))
    stream.seek(0)
    return stream


def _visible(store: Store) -> list[Any]:
    staged = store.root / "v1" / "tmp"
    return [*store.entries(), *store.names(), *(staged.iterdir() if staged.exists() else ())]


def test_what_was_exported_is_taken_over(
    store: Store, other: Store, entry: Entry, archive: bytes, never: Produce, key: Key
) -> None:
    found = other.take_over(io.BytesIO(archive))
    assert (found.entries, found.present, found.actions) == ([entry.key], [], 1)
    assert found.names == {Bound("arm/left"): {"units": {"crba": entry.key}}}
    assert other.names() == [], "whoever imports decides what names mean"
    (copy,) = other.entries()
    assert (copy.files, copy.meta, copy.created) == (entry.files, entry.meta, entry.created)
    assert all(copy.verified(name).read_bytes() == entry.path(name).read_bytes() for name in entry.files)
    assert other.obtain(key, never).key == entry.key
    assert other.lookup(REQUEST.digest) == store.lookup(REQUEST.digest)
    again = other.take_over(io.BytesIO(archive))
    assert (again.entries, again.present) == ([], [entry.key])
    assert other.verify() == []


def test_names_of_consumers_travel_too(store: Store, other: Store, entry: Entry) -> None:
    named = [Bound("arm/left"), Bound("arm", "planner"), Bound("../leg", "..")]
    for bound in named[1:]:
        store.bind(bound.name, {"content": entry.key}, consumer=bound.consumer)
    stream = io.BytesIO()
    assert store.export(stream, named) == [entry]
    stream.seek(0)
    found = other.take_over(stream)
    assert found.names == {bound: store.resolve(bound.name, consumer=bound.consumer) for bound in named}
    assert [str(bound) for bound in found.names] == ["arm/left", "planner/arm", "../../leg"]


def test_equal_stores_make_equal_archives(store: Store, entry: Entry, archive: bytes) -> None:
    stream = io.BytesIO()
    store.export(stream, [Bound("arm/left")])
    assert _members(stream.getvalue())[0][1] == _members(archive)[0][1]
    assert [(m.name, data) for m, data in _members(stream.getvalue())] == [(m.name, d) for m, d in _members(archive)]


def test_nothing_damaged_is_exported(store: Store, entry: Entry) -> None:
    entry.path("robot.so").chmod(0o600)
    entry.path("robot.so").write_bytes(b"CONTENT of the library")
    with pytest.raises(CorruptEntryError, match="is not the file that was stored"):
        store.export(io.BytesIO(), [Bound("arm/left")])
    with pytest.raises(StoreError, match="nothing is bound to 'leg' in the store"):
        store.export(io.BytesIO(), [Bound("leg")])


def test_a_damaged_entry_here_is_replaced(other: Store, entry: Entry, archive: bytes) -> None:
    other.take_over(io.BytesIO(archive))
    (copy,) = other.entries()
    copy.path("robot.so").unlink()
    assert other.take_over(io.BytesIO(archive)).entries == [entry.key]
    assert other.verify() == []


@pytest.mark.parametrize(
    "name",
    [
        "../evil", "/etc/evil", "objects/../../evil", "names/../../evil.json", "names/a/b.json", "names/evil.txt",
        "objects/evil/robot.so", "actions/evil.json", "tmp/evil", "objects/{key}/../../../evil", "objects/{key}",
        "objects/{key}//robot.so", "./names/evil.json", "", "consumers/evil.json", "consumers/../evil.json",
        "consumers/a/b/evil.json", "consumers/a/evil.txt",
    ],
)  # fmt: skip
def test_paths_that_lead_elsewhere_are_refused(
    other: Store, entry: Entry, archive: bytes, name: str, tmp_path: Path
) -> None:
    evil = tarfile.TarInfo(name.format(key=entry.key))
    with pytest.raises(ArchiveError, match=r"no path that an archive of a store has|no archive of a store"):
        other.take_over(_packed([_members(archive)[0], (evil, b"evil"), *_members(archive)[1:]]))
    assert _visible(other) == []
    assert not list(tmp_path.rglob("*evil*"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
@pytest.mark.parametrize("which", ["robot.so", "record.json"])
def test_links_and_special_files_are_refused(
    other: Store, archive: bytes, kind: bytes, which: str, tmp_path: Path
) -> None:
    members = _members(archive)
    for member, _ in members:
        if member.name.endswith(which):
            member.type, member.linkname, member.size = kind, str(tmp_path), 0
    with pytest.raises((ArchiveError, CorruptEntryError), match=r"is no regular file|is no path that"):
        other.take_over(_packed(members))
    assert _visible(other) == []


def _edited(archive: bytes, which: str, edit: Callable[[bytes], bytes]) -> io.BytesIO:
    return _packed([(m, edit(data) if m.name.endswith(which) else data) for m, data in _members(archive)])


@pytest.mark.parametrize("edit", [lambda data: data[:-1], lambda data: data + b"x", lambda data: b"X" + data[1:]])
@pytest.mark.parametrize("which", ["robot.so", "robot.h", "record.json"])
def test_a_file_that_is_not_what_the_record_says_is_refused(
    other: Store, archive: bytes, which: str, edit: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(CorruptEntryError):
        other.take_over(_edited(archive, which, edit))
    assert _visible(other) == []


def test_an_entry_under_another_key_is_refused(other: Store, entry: Entry, archive: bytes) -> None:
    members = _members(archive)
    for member, _ in members:
        member.name = member.name.replace(entry.key, "0" * 64)
    with pytest.raises(CorruptEntryError, match="is not a record of this entry"):
        other.take_over(_packed(members))
    assert _visible(other) == []


def test_entries_that_lack_or_repeat_files_are_refused(other: Store, archive: bytes) -> None:
    members = _members(archive)
    without = [pair for pair in members if not pair[0].name.endswith("robot.so")]
    with pytest.raises(CorruptEntryError, match=r"comes without robot\.so"):
        other.take_over(_packed(without))
    twice = [pair for pair in members for _ in range(1 + pair[0].name.endswith("robot.so"))]
    with pytest.raises(CorruptEntryError, match=r"'robot\.so' is not among its files, or comes twice"):
        other.take_over(_packed(twice))
    late = [*(m for m in members if not m[0].name.endswith("record.json")), *members[-3:-2]]
    with pytest.raises(ArchiveError, match="comes before its record"):
        other.take_over(_packed(late))
    assert _visible(other) == []


def test_requests_are_checked_too(other: Store, archive: bytes) -> None:
    def edit(data: bytes) -> bytes:
        record = json.loads(data)
        record["components"]["input"] = "0" * 64
        return json.dumps(record).encode()

    with pytest.raises(ArchiveError, match="is not the record of a request"):
        other.take_over(_edited(archive, f"{REQUEST.digest}.json", edit))
    assert other.lookup(REQUEST.digest) is None


@pytest.mark.parametrize("text", [b"", b"no archive", b"\x1f\x8b\x08\x00 cut", b"PK\x03\x04"])
def test_other_files_are_refused(other: Store, text: bytes) -> None:
    with pytest.raises(ArchiveError, match="export it again"):
        other.take_over(io.BytesIO(text))


def test_a_cut_archive_is_refused(other: Store, archive: bytes) -> None:
    for size in range(20, len(archive) - 20, len(archive) // 7):
        with pytest.raises((ArchiveError, CorruptEntryError)):
            other.take_over(io.BytesIO(archive[:size]))
    assert _visible(other) == []


def test_a_byte_that_changed_in_a_name_is_refused(other: Store, archive: bytes) -> None:
    """Names have no digest: the checksum of the whole tells."""
    plain = gzip.compress(gzip.decompress(archive), compresslevel=0)
    at = plain.index(b'"units"')
    with pytest.raises(ArchiveError, match="CRC check failed"):
        other.take_over(io.BytesIO(plain[:at] + b'"Units"' + plain[at + 7 :]))
    with pytest.raises(ArchiveError, match="it is cut"):
        other.take_over(io.BytesIO(plain[:-1]))


def test_another_version_is_refused(other: Store, archive: bytes) -> None:
    with pytest.raises(ArchiveError, match="of another version"):
        other.take_over(_edited(archive, HEADER, lambda _: b'{"archive": 2}'))


def test_many_entries_need_few_open_files(run: Callable[..., str], store: Store) -> None:
    script = """
        import io, resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
        store = Store(sys.argv[1], strict=True)
        keys = [store.obtain(Key({"n": n}), produce).key for n in range(60)]
        store.bind("arm", {"units": keys})
        print(len(store.export(io.BytesIO(), [Bound("arm")])))
    """
    assert run(script, store.root) == "60"
