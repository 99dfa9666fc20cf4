"""Builders and users with a store and a configuration each, and the tiers between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grid_store import Entry, Key, Store
from grid_store.tiers import TierSettings, TiersSettings, configured_tiers, save_settings
from grid_store.tiers.keys import make_key, trust_key

REQUEST = Key({"request": "arm", "options": "float32"})
CONTENT = Key({"source": b"void f();"})
Produce = Callable[[Path], dict[str, Any]]


class Person:
    """Somebody with a configuration and a store."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.root, self._config, self._patch = folder / "store", folder / "config", patch
        self.as_me()
        self.key = make_key(folder.name)

    def as_me(self) -> None:
        """Let the process be this person's."""
        self._patch.setenv("GRID_RBD_CONFIG_DIR", str(self._config))

    def trust(self, other: Person) -> None:
        self.as_me()
        trust_key(other.key.public.name, other.key.public.text)

    def store(self, *tiers: TierSettings, fallback: bool = True, signed: bool = True) -> Store:
        """Return this person's store with tiers, as a new process opens it."""
        self.as_me()
        save_settings(TiersSettings(tiers, self.key.public.name if signed else None, fallback))
        return Store(self.root, strict=True, tiers=configured_tiers())


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    return Person(tmp_path / "builder", monkeypatch)


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, builder: Person) -> Person:
    """Somebody who trusts the builder."""
    user = Person(tmp_path / "user", monkeypatch)
    user.trust(builder)
    return user


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    return tmp_path / "shared"


@pytest.fixture
def tier(shared: Path) -> TierSettings:
    return TierSettings(shared.as_uri(), write=True)


@pytest.fixture
def built(builder: Person, tier: TierSettings, produce: Produce) -> Entry:
    """What the builder left in the tier."""
    return build(builder.store(tier), produce)


def build(store: Store, produce: Produce) -> Entry:
    entry = store.obtain(CONTENT, produce)
    store.record(REQUEST, entry.key, algorithm="crba")
    return entry


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The options of a local server with a bucket ``robots``."""
    server_module = pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    server = server_module.ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    options = {"endpoint_url": f"http://{host}:{port}", "key": "key", "secret": "secret"}
    s3fs.S3FileSystem(**options, skip_instance_cache=True).mkdir("robots")
    yield options
    server.stop()
