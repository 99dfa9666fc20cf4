"""The fixtures of tiers, where the packages are installed that tiers need."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("fsspec") and find_spec("cryptography"):
    from tests.grid_store.tiers.people import builder, built, s3, shared, tier, user  # noqa: F401 - fixtures
else:
    collect_ignore_glob = ["test_*.py"]
