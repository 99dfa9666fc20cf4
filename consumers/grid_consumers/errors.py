"""Errors of consumer artifacts. Every message names the item, the rule it broke and what to do next."""

from __future__ import annotations

from grid_core.errors import GridError

__all__ = ["ArtifactIncompatibleError", "ArtifactNotFoundError", "ConsumerArtifactError"]


class ConsumerArtifactError(GridError, RuntimeError):
    """Base of the artifact errors."""


class ArtifactNotFoundError(ConsumerArtifactError):
    """No artifact of that name in the consumer's manifest."""


class ArtifactIncompatibleError(ConsumerArtifactError):
    """The recorded artifact cannot be loaded here: another device or key schema, or its files are not whole."""
