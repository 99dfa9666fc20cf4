from __future__ import annotations

from typing import Any

import pytest

from grid_core.errors import OptionError
from grid_core.toolchains.architectures import Architectures, architectures, architectures_of, requested_architectures

KIB = 1 << 10


@pytest.mark.parametrize(
    ("value", "machine", "portable"),
    [
        (90, (90,), ()),
        ("86,89,120", (86, 89, 120), ()),
        ("120; 86 86", (86, 120), ()),
        ([86, "90+ptx"], (86, 90), (90,)),
        ("90+PTX", (90,), (90,)),
        (("80+ptx,90",), (80, 90), (80,)),
    ],
)
def test_lists_are_read_in_many_ways(value: Any, machine: tuple[int, ...], portable: tuple[int, ...]) -> None:
    assert architectures(value) == Architectures(machine, portable)


@pytest.mark.parametrize("value", ["", [], "9.0", "sm_90", "hopper", "90+sass", True, None, 9, [8.6]])
def test_others_are_refused(value: Any) -> None:
    with pytest.raises(OptionError, match=r"cuda_archs is .*, expected compute capabilities without the dot"):
        architectures(value)


def test_levels_name_them_in_one_way() -> None:
    wanted = architectures("90+ptx,86")
    assert wanted.level == "sm_86,sm_90,compute_90"
    assert architectures_of(wanted.level) == wanted
    assert architectures_of("compute_90,sm_86".join(["sm_90,", ""])) == wanted
    assert architectures(wanted.names) == wanted


@pytest.mark.parametrize("level", ["compute_90", "sm_90,", "sm_hopper", "sm_90,x86-64-v3", "sm_90a"])
def test_other_levels_are_refused(level: str) -> None:
    with pytest.raises(OptionError, match=r"CUDA level is .*, expected a name such as 'sm_90'"):
        architectures_of(level)


@pytest.mark.parametrize(
    ("value", "kib"), [("90", 227), ("86,90", 99), ("90+ptx", 99), ("75,90+ptx", 64), ("80", 163), ("200", 99)]
)
def test_shared_memory_is_what_every_gpu_has(value: str, kib: int) -> None:
    assert architectures(value).shared_bytes == kib * KIB


def test_the_variable_asks_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRID_RBD_CUDA_ARCHS", raising=False)
    assert requested_architectures() == Architectures()
    monkeypatch.setenv("GRID_RBD_CUDA_ARCHS", "86,120+ptx")
    assert requested_architectures() | Architectures((90,)) == Architectures((86, 90, 120), (120,))
    monkeypatch.setenv("GRID_RBD_CUDA_ARCHS", "all")
    with pytest.raises(OptionError, match="environment variable GRID_RBD_CUDA_ARCHS is 'all'"):
        requested_architectures()
