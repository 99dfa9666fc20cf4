"""How compilers are called in messages."""

from __future__ import annotations

import pytest

from grid_core.toolchains.toolchain import compiler_text

NVCC = """nvcc: NVIDIA (R) Cuda compiler driver
Copyright (c) 2005-2025 NVIDIA Corporation
Cuda compilation tools, release 13.0, V13.0.48
Build cuda_13.0.r13.0/compiler.36260728_0"""


@pytest.mark.parametrize(
    ("kind", "version", "text"),
    [
        ("gcc", "(Debian 12.2.0-14) 12.2.0\nCopyright (C) 2022", "gcc (Debian 12.2.0-14) 12.2.0"),
        ("clang", "clang version 18.1.3\nTarget: x86_64", "clang clang version 18.1.3"),
        ("nvcc", NVCC, "nvcc Cuda compilation tools, release 13.0, V13.0.48"),
        ("nvcc", "an older one", "nvcc an older one"),
    ],
)
def test_the_text_tells_versions_apart(kind: str, version: str, text: str) -> None:
    assert compiler_text({"kind": kind, "version": version}) == text
