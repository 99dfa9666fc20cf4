"""``import grid_rbd`` is cheap and has no side effects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import os, sys
paths = [os.path.join(sys.argv[1], folder) for folder in ("", "store", "backends", "consumers")]
sys.path[:0] = paths
import numpy

touched = []
def watch(event, arguments):
    if event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.symlink", "shutil.rmtree",
                 "tempfile.mkstemp", "tempfile.mkdtemp", "subprocess.Popen", "os.system", "os.posix_spawn", "os.fork",
                 "os.exec", "socket.connect", "socket.__new__", "os.putenv", "ctypes.dlopen"):
        touched.append((event, arguments))
    if event == "open" and arguments[0] is not None and isinstance(arguments[2], int):
        if arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            touched.append((event, arguments))
sys.addaudithook(watch)
import grid_rbd
assert not touched, touched
heavy = {"jinja2", "lxml", "rich", "typer", "jax", "torch", "urdf_parser_py", "pinocchio"} & set(sys.modules)
assert not heavy, heavy
assert not [m for m in sys.modules if m.startswith("grid_plugins")], "plugins are loaded when they are needed"
print(sorted(os.listdir(".")), grid_rbd.__version__)
"""


def test_importing_touches_nothing(tmp_path: Path) -> None:
    nowhere = {"PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(ROOT)],
        cwd=tmp_path,
        env=nowhere,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[] ")


def test_knowing_all_algorithms_costs_no_code_generation() -> None:
    """A process that finds all that it calls in the store only asks the plugins what there is."""
    program = (
        "import sys; from grid_core.plugins.manager import load_catalogue; load_catalogue();"
        "print([m for m in sys.modules if m.startswith('grid_core.codegen')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_everything_public_is_there() -> None:
    import grid_rbd

    assert sorted(grid_rbd.__all__) == grid_rbd.__all__
    for name in grid_rbd.__all__:
        assert getattr(grid_rbd, name).__doc__ or name == "__version__"


def test_every_error_has_a_public_name() -> None:
    import grid_rbd
    from grid_rbd import errors

    assert {*errors.__all__} <= {*grid_rbd.__all__}


def test_results_have_their_declared_classes() -> None:
    import grid_rbd

    assert grid_rbd.SecondOrderID._fields == ("d2tau_dq", "d2tau_dqd", "d2tau_cross", "dM_dq")
    assert not hasattr(grid_rbd, "ThirdOrderID")
    assert not hasattr(grid_rbd, "third_order")
