"""Proof that a compiler works: a small C++17 library is compiled, loaded and called.

A compiler that exists may still lack its standard library, target another machine or be too old; asking for its version
would not show it.
"""

from __future__ import annotations

import ctypes
import tempfile
from functools import partial
from pathlib import Path

from grid_core.errors import CompileError, ToolchainError
from grid_core.toolchains.cxx import CxxCompiler
from grid_core.toolchains.process import call_in_time, last_lines

SOURCE = """\
#include <array>
#include <cmath>
#include <cstdint>

#if defined(__clang__)
#if __clang_major__ < 10
#error "clang++ is older than version 10"
#endif
#elif defined(__GNUC__)
#if __GNUC__ < 9
#error "g++ is older than version 9"
#endif
#else
#error "neither g++ nor clang++"
#endif

typedef double pack __attribute__((vector_size(16)));

extern "C" __attribute__((visibility("default"))) std::int32_t grid_probe(double x) {
    if constexpr (sizeof(pack) == 16) {
        const pack p = {x, x};
        const std::array<double, 2> sums = {p[0] + p[1], std::sqrt(x)};
        return static_cast<std::int32_t>(sums[0] + sums[1]);
    }
    return 0;
}
"""
ARGUMENT, ANSWER = 9.0, 21


def probe(compiler: CxxCompiler, level: str) -> None:
    """Compile, load and call a small library in a temporary folder.

    Raises
    ------
    ToolchainError
        Anything but the right answer came back; the message has the compiler's or the loader's words.
    """
    with tempfile.TemporaryDirectory(prefix="grid-probe-") as name:
        folder = Path(name)
        source, library, log = folder / "probe.cpp", folder / "probe.so", folder / "probe.log"
        source.write_text(SOURCE, encoding="ascii")
        try:
            compile_it = partial(compiler.compile, source, library, level=level, include=(), log=log)
            call_in_time(compile_it, f"a small library that {compiler.path} compiles")
            answer = ctypes.CDLL(str(library)).grid_probe(ctypes.c_double(ARGUMENT))
        except CompileError:
            raise ToolchainError(f"cannot compile a small C++17 library:\n{last_lines(log)}") from None
        except (OSError, AttributeError) as error:
            raise ToolchainError(
                f"its library does not load: {error} (a cross compiler, or TMPDIR on a file system mounted noexec?)"
            ) from None
        if answer != ANSWER:
            raise ToolchainError(f"its library computes {answer} instead of {ANSWER}")
