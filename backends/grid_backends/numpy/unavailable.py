"""Documented parts of the handle that are not there: why, and what to use instead."""

from __future__ import annotations

from collections.abc import Mapping

GPU_ONLY: Mapping[str, str] = {
    **dict.fromkeys(
        ("threads_per_block", "set_threads_per_block", "kernel_max_threads", "device_profile"),
        "it is a setting of GPUs without a meaning on a CPU; set 'threads' instead",
    ),
    **dict.fromkeys(
        ("pinned_empty", "is_pinned"),
        "page-locked memory is for copies to a GPU; numpy.empty gives arrays that serve as out= on a CPU",
    ),
}
"""Attributes that handles on a CPU do not have, and the reason."""

NOT_NEEDED: Mapping[str, str] = {
    "max_perf_level_threads": (
        "no block size is the best one for all batches; the shape of a launch is chosen for each call. "
        "threads_per_block says whether set_threads_per_block overrides that, kernel_max_threads how far it may go"
    ),
    **dict.fromkeys(
        ("apply_profile_overlay", "apply_batch_overlay"),
        "there are no tables of block sizes to lay over a build; the shape of a launch is chosen for each call by its "
        "batch size, and set_threads_per_block overrides that",
    ),
    "install_device_pool": (
        "there is no slab of device memory that calls share; pass out= arrays of your framework to have results in "
        "its memory. What is left is scratch for the blocks that run at once, which context(workspace_slots=) bounds"
    ),
}
"""Attributes that no handle has because nothing needs them, and what to use."""

LATER: Mapping[str, str] = {
    "mujoco": "this version does not have the MuJoCo view; convert inputs and outputs to the Pinocchio convention",
}
"""Attributes that this version does not have."""

UNAVAILABLE: Mapping[str, str] = {**GPU_ONLY, **NOT_NEEDED, **LATER}
