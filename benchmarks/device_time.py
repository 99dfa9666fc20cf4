"""Device time of calls: all work that a call enqueues, as PyTorch's profiler sees it. Used for every contestant."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

REPEATS = 20
WARM_UP = 3


def device_times(calls: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median over repeats of the summed time of kernels, copies and memsets of one call, in microseconds.

    Gaps between them, and whatever the host does, do not count.

    Parameters
    ----------
    calls : mapping of str to callable
        Each enqueues the same work whenever it is called.
    """
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function

    for call in calls.values():
        for _ in range(WARM_UP):
            call()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as recorded:
        for name, call in calls.items():
            with record_function(f"section {name}"):
                for _ in range(REPEATS):
                    call()
                torch.cuda.synchronize()
    events = recorded.events()
    assert events is not None
    cuda = torch.autograd.DeviceType.CUDA
    work = [e for e in events if e.device_type == cuda and not e.name.startswith("section ")]
    sections = {e.name: e.time_range for e in events if e.device_type != cuda and e.name.startswith("section ")}
    times = {}
    for name in calls:
        within = sections[f"section {name}"]
        spent = [
            (e.time_range.start, e.time_range.elapsed_us())
            for e in work
            if within.start <= e.time_range.start <= within.end
        ]
        times[name] = _median_call([microseconds for _, microseconds in sorted(spent)])
    return times


def _median_call(spent: list[float]) -> float:
    """Return the median sum over calls, each of which enqueues equally many pieces of work."""
    pieces, rest = divmod(len(spent), REPEATS)
    if rest or not pieces:
        raise RuntimeError(f"{len(spent)} pieces of device work in {REPEATS} calls; the profiler has lost some")
    return statistics.median(sum(spent[i * pieces : (i + 1) * pieces]) for i in range(REPEATS))


def copy_bandwidth(size: int = 1 << 31) -> float:
    """Return the bytes per second, read and written, of a copy of ``size`` bytes on the device."""
    import torch

    source = torch.empty(size, dtype=torch.uint8, device="cuda").fill_(1)
    target = torch.empty_like(source)
    return 2 * size / device_times({"copy": lambda: target.copy_(source)})["copy"] * 1e6
