"""The check of shared tiers; none of them is asked."""

from __future__ import annotations

from grid_rbd.check import Check
from grid_store.tiers import load_settings
from grid_store.tiers.keyring import load_keyring
from grid_store.tiers.remote import Remote


def check_tiers() -> Check:
    """Find out whether the tiers of the user's configuration can be opened, and keys fit them."""
    settings = load_settings()
    if not settings.tiers:
        return Check("tiers", "off", "none; builds are looked for in the store alone")
    for tier in settings.tiers:
        Remote(tier).check()
    trusted = load_keyring(settings).trusted
    found = f"{', '.join(tier.url for tier in settings.tiers)}; trusted keys: {len(trusted)}"
    if not trusted and all(tier.verify for tier in settings.tiers):
        return Check("tiers", "warn", found, "every record is refused; 'grid-rbd keys trust' adds a builder's key")
    return Check("tiers", "ok", found)
