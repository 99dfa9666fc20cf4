"""Documented parts of the handle that this version does not have yet, and what to use instead."""

from __future__ import annotations

from grid_backends.errors import NotAvailableError

_GPU = ("CUDA settings", "they have no meaning on a CPU; set 'threads' instead")
_PROFILES = ("launch overlays", "kernels are chosen by batch size; set_threads_per_block overrides that on a GPU")
_PINNED = ("page-locked memory", "numpy.empty gives arrays that serve as out= on a CPU")
_CONTEXTS = ("run-time contexts", "handles share nothing that calls could change, so one handle serves all threads")

UNAVAILABLE: dict[str, tuple[str, str]] = {
    name: feature
    for feature, names in {
        _GPU: "threads_per_block set_threads_per_block kernel_max_threads device_profile",
        _PROFILES: "max_perf_level_threads apply_profile_overlay apply_batch_overlay install_device_pool",
        _PINNED: "pinned_empty is_pinned",
        _CONTEXTS: "context",
        ("the MuJoCo view", "convert inputs and outputs to the Pinocchio convention"): "mujoco",
    }.items()
    for name in names.split()
}
"""Attribute -> (feature, what to do instead)."""


def unavailable(robot: str, name: str) -> NotAvailableError:
    """Return the error for an attribute in :data:`UNAVAILABLE`."""
    feature, instead = UNAVAILABLE[name]
    return NotAvailableError(
        f"robot {robot!r}: {name!r} belongs to {feature}, which this version does not have; {instead}"
    )
