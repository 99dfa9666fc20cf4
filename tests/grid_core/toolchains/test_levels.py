from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from grid_core.errors import OptionError
from grid_core.toolchains import CxxCompiler, detect_level, level_identity, levels, machine_supports

BASE = "fpu sse sse2 pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm"
HASWELL = f"{BASE} avx avx2 bmi1 bmi2 f16c fma abm movbe"
SERVER = f"{HASWELL} avx512f avx512bw avx512cd avx512dq avx512vl"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Pretend to be another machine; see :func:`pretend`."""
    monkeypatch.setattr(levels, "CPUINFO", tmp_path / "cpuinfo")
    levels.cpu_features.cache_clear()
    yield monkeypatch
    levels.cpu_features.cache_clear()


def pretend(machine: pytest.MonkeyPatch, kind: str, flags: str | None, model: str = "a processor") -> None:
    levels.cpu_features.cache_clear()
    machine.setattr("platform.machine", lambda: kind)
    if flags is not None:
        levels.CPUINFO.write_text(f"processor\t: 0\nmodel name\t: {model}\nflags\t\t: {flags}\nbugs\t\t:\n")


@pytest.mark.parametrize(
    ("kind", "flags", "level"),
    [
        ("x86_64", SERVER, "x86-64-v4"),
        ("x86_64", SERVER.replace("avx512vl", ""), "x86-64-v3"),
        ("x86_64", HASWELL, "x86-64-v3"),
        ("x86_64", HASWELL.replace("fma", ""), "x86-64-v2"),
        ("x86_64", BASE, "x86-64-v2"),
        ("x86_64", "fpu sse sse2", "native"),
        ("AMD64", None, "x86-64-v2"),
        ("x86_64", None, "x86-64-v2"),
        ("aarch64", None, "armv8"),
        ("arm64", None, "armv8"),
        ("riscv64", None, "native"),
    ],
)
def test_the_best_level_is_found(machine: pytest.MonkeyPatch, kind: str, flags: str | None, level: str) -> None:
    pretend(machine, kind, flags)
    assert detect_level() == level


def test_a_machine_supports_the_levels_below_its_best(machine: pytest.MonkeyPatch) -> None:
    pretend(machine, "x86_64", HASWELL)
    supported = [level for level in levels.FLAGS if machine_supports(level)]
    assert supported == ["x86-64-v3", "x86-64-v2", "native"]


def test_an_unknown_level_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(OptionError, match=r"unknown instruction-set level 'x86-64-v5'; did you mean .*; known levels"):
        machine_supports("x86-64-v5")


def test_native_is_another_level_on_another_processor(machine: pytest.MonkeyPatch) -> None:
    names = set()
    for flags, model in [(SERVER, "one"), (HASWELL, "one"), (HASWELL, "two")]:
        pretend(machine, "x86_64", flags, model)
        names.add(level_identity("native"))
        assert level_identity("x86-64-v3") == "x86-64-v3"
    assert len(names) == 3


def test_this_machine_runs_the_level_that_is_found_here() -> None:
    assert machine_supports(detect_level())


@pytest.mark.parametrize("level", levels.X86_FEATURES)
def test_spelled_out_features_are_those_of_the_compilers_own_level(compiler: CxxCompiler, level: str) -> None:
    if not compiler.target.startswith("x86_64"):
        pytest.skip("another architecture")
    ours, theirs = (macros(compiler, *flags) for flags in (levels.FLAGS[level], (f"-march={level}",)))
    if theirs is None:
        pytest.skip("this compiler does not know the level by name")
    assert ours == theirs


def macros(compiler: CxxCompiler, *flags: str) -> set[str] | None:
    command = [str(compiler.path), *flags, "-dM", "-E", "-x", "c++", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return set(done.stdout.splitlines()) if done.returncode == 0 else None
