"""Shared tiers: places beyond this machine where built entries are found before they are compiled, and left for others.

A tier is a URL of fsspec. It holds files by their digest, and per request one record that says which files answer it,
signed by whoever built them. A record is believed if a key signed it that the user trusts; a file, if it has the digest
that the record leads to. Nothing that comes from a tier is unpickled, and nothing is executed before that.
"""

from __future__ import annotations

from grid_store.tiers.settings import TierSettings, TiersSettings, load_settings, save_settings
from grid_store.tiers.tiers import Pushed, Tiers, configured_tiers

__all__ = ["Pushed", "TierSettings", "Tiers", "TiersSettings", "configured_tiers", "load_settings", "save_settings"]
