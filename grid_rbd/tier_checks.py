"""The check of shared tiers."""

from __future__ import annotations

from grid_rbd.check import Check
from grid_store import TierUnavailableError
from grid_store.tiers import TierSettings, load_settings
from grid_store.tiers.keyring import load_keyring
from grid_store.tiers.remote import Remote


def check_tiers() -> Check:
    """Find out whether the tiers of the user's configuration can be opened and answer, and keys fit them."""
    settings = load_settings()
    if not settings.tiers:
        return Check("tiers", "off", "none; builds are looked for in the store alone")
    for tier in settings.tiers:
        Remote(tier).check()
    trusted = load_keyring(settings).trusted
    answers = {tier.url: _answer(tier) for tier in settings.tiers}
    found = f"{', '.join(answers)}; trusted keys: {len(trusted)}"
    advice = [f"{url} {answer}" for url, answer in answers.items() if answer]
    if not trusted and all(tier.verify for tier in settings.tiers):
        advice.append("every record is refused; 'grid-rbd keys trust' adds a builder's key")
    return Check("tiers", "warn" if advice else "ok", found, "; ".join(advice))


def _answer(tier: TierSettings) -> str:
    """Return what is odd about a tier, nothing if all is well."""
    try:
        return "has nothing yet: if that is wrong, look at its URL" if Remote(tier).is_empty() else ""
    except TierUnavailableError as error:
        return f"does not answer: {error}"
