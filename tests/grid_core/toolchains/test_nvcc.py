from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grid_core.errors import CompileError, OptionError, ToolchainError
from grid_core.toolchains.images import IMAGES
from grid_core.toolchains.nvcc import NvccCompiler, find_nvcc

ANSWERS = """#!/bin/sh
case "$1" in
  --version) echo "nvcc: release 13.0" ;;
  --list-gpu-code) printf 'sm_80\\nsm_90\\nsm_90a\\n' ;;
  *) while [ "$1" != -o ]; do shift; done; printf binary > "$2" ;;
esac
"""


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    path = tmp_path / "bin" / "nvcc"
    path.parent.mkdir()
    path.write_text(ANSWERS)
    path.chmod(0o755)
    return path


def test_cuda_home_comes_before_path(stub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", str(stub.parents[1]))
    found = find_nvcc()
    assert found.path == stub
    assert found.architectures == (80, 90)


def test_a_known_compiler_is_not_run_again(stub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", str(stub.parents[1]))
    known = NvccCompiler.from_json(find_nvcc().to_json())
    monkeypatch.setattr("subprocess.run", None)
    assert find_nvcc(known=[known]) == known


def test_a_replaced_compiler_is_asked_again(stub: Path) -> None:
    known = find_nvcc(str(stub))
    stub.write_text(ANSWERS.replace("13.0", "13.1"))
    assert "13.1" in find_nvcc(str(stub), known=[known]).version


def test_nothing_found_says_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "gone"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(ToolchainError, match=r"(?s)CUDA_HOME: .*gone.*PATH: 'nvcc'.*pip install"):
        find_nvcc()


def test_an_unknown_architecture_lists_the_known_ones(stub: Path) -> None:
    with pytest.raises(OptionError, match="capability 120; it knows 80, 90"):
        find_nvcc(str(stub)).flags("sm_120")


def test_every_architecture_is_an_option(stub: Path) -> None:
    flags = find_nvcc(str(stub)).flags("sm_80,sm_90,compute_90")
    assert "-fatbin" in flags
    assert [flag for flag in flags if "gencode" in flag] == [
        "-gencode=arch=compute_80,code=sm_80",
        "-gencode=arch=compute_90,code=sm_90",
        "-gencode=arch=compute_90,code=compute_90",
    ]


def test_the_pip_package_is_found(stub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NVIDIA's package for CUDA 13 has nvcc in nvidia/cu13/bin; that for CUDA 12 has ptxas only."""
    site = tmp_path / "site"
    (site / "nvidia" / "cuda_nvcc" / "bin").mkdir(parents=True)
    (site / "nvidia" / "cuda_nvcc" / "bin" / "ptxas").touch(mode=0o755)
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setattr("sys.path", [str(site)])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        ToolchainError, match=r"nvidia-cuda-nvcc' \(13 or later; nvidia-cuda-nvcc-cu12 has no nvcc in it"
    ):
        find_nvcc()
    own = site / "nvidia" / "cu13" / "bin" / "nvcc"
    own.parent.mkdir(parents=True)
    stub.rename(own)
    assert find_nvcc().path == own


def test_a_compiler_that_writes_nothing_fails(stub: Path, tmp_path: Path) -> None:
    found = find_nvcc(str(stub))
    stub.write_text("#!/bin/sh\necho out of luck\nexit ${STATUS:-0}\n")
    source = tmp_path / "unit.cu"
    source.write_text("")
    log = tmp_path / "log"
    with pytest.raises(CompileError, match=r"(?s)wrote nothing on unit.cu; log: .*out of luck"):
        found.compile(source, tmp_path / "unit.fatbin", level="sm_90", include=[], log=log)
    assert log.exists()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc on this machine")
def test_the_real_one_compiles(tmp_path: Path) -> None:
    compiler = find_nvcc()
    source = tmp_path / "unit.cu"
    source.write_text('extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n')
    level = f"sm_{compiler.architectures[-1]}"
    compiler.compile(source, tmp_path / "unit.fatbin", level=level, include=[], log=tmp_path / "log")
    assert (tmp_path / "unit.fatbin").stat().st_size > 0


PART = """
__device__ __noinline__ float {name}(float x) {{ return x {operation} 3.0f; }}
"""
MAIN = """
__device__ float twice(float x);
__device__ float less(float x);
extern "C" __global__ void __launch_bounds__(512) kernel(float* x) { *x = less(twice(*x)); }
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc on this machine")
@pytest.mark.parametrize("level", ["sm_90", "sm_86,sm_90", "sm_90,compute_90"])
def test_an_image_is_linked_from_its_files(tmp_path: Path, level: str) -> None:
    compiler = find_nvcc()
    source = tmp_path / "unit.cu"
    source.write_text(MAIN, "utf-8")
    for name, operation in (("twice", "*"), ("less", "-")):
        (tmp_path / f"unit_{name}.cu").write_text(PART.format(name=name, operation=operation), "utf-8")
    sources = ["unit.cu", "unit_twice.cu", "unit_less.cu"]
    (tmp_path / IMAGES).write_text(json.dumps([{"sources": sources, "registers": 128}]), "utf-8")
    output = tmp_path / "unit.fatbin"
    compiler.compile(source, output, level=level, include=[], log=tmp_path / "build.log")
    image = output.read_bytes()
    assert image[:4] == (0xBA55ED50).to_bytes(4, "little")
    assert b"kernel" in image
    (tmp_path / "unit_less.cu").write_text("", "utf-8")
    with pytest.raises(CompileError, match="less"):
        compiler.compile(source, output, level=level, include=[], log=tmp_path / "build.log")
