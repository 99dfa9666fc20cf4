"""A small robot, hand-written algorithms for it, and what they compute."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import grid_backends
from grid_backends.numpy import RobotRecord
from grid_core.model import Model
from grid_core.plugins.algorithm import Absent, Algorithm, Input, Output

CXX = os.environ.get("CXX", "c++")
HERE = Path(__file__).parent
NATIVE = Path(grid_backends.__file__).parent / "native"
RUNTIME = HERE.parents[1] / "grid_core" / "codegen" / "runtime"

LINK = """<link name="{}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
</link>"""

URDF = f"""<robot name="flyer">{LINK.format("trunk")}{LINK.format("arm")}{LINK.format("wheel")}
  <joint name="shoulder" type="revolute"><parent link="trunk"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="2" effort="3" velocity="4"/></joint>
  <joint name="axle" type="continuous"><parent link="arm"/><child link="wheel"/><axis xyz="0 1 0"/></joint>
</robot>"""

INPUTS = (
    Input("q", ("nq",), "Configuration", tangent="configuration"),
    Input("qd", ("nv",), "Velocity, rad/s or m/s."),
    Input("qdd", ("nv",), "Acceleration", absent=Absent.VARIANT),
    Input("gravity", ("3",), "Gravity in world axes", default=-9.81, keyword_only=True, scalar_slot=2),
    Input("f_ext", ("6*nb",), "Body wrenches", absent=Absent.ZERO, keyword_only=True),
    Input("probe", (), "Adds the number of the variant that ran", absent=Absent.ZERO, keyword_only=True),
)
TAU = Output("tau", ("nv",), "Torque, N m or N.")
OUTER = Output("outer", ("nv", "nv"), "Table of products.")


def declare(name: str, outputs: tuple[Output, ...], inputs: tuple[Input, ...] = INPUTS, **more: Any) -> Algorithm:
    return Algorithm(name, "tests", f"The {name} algorithm.", inputs, outputs, lambda k: None, **more)


TOY = declare("toy", (TAU,), aliases=("plaything",), source="Made up.", notes="For tests only.")
PAIR = declare("pair_of_toys", (TAU, OUTER))
ABSENT = declare("absent_toy", (TAU,))


def build_runner() -> None:
    """Compile the runner beside its sources, unless it is there and newer than they are."""
    target = NATIVE / f"_runner{sysconfig.get_config_var('EXT_SUFFIX')}"
    sources = [*NATIVE.glob("*.cpp"), *NATIVE.glob("*.hpp")]
    newest = max((s.stat().st_mtime for s in sources), default=0.0)
    if not sources or (target.exists() and target.stat().st_mtime >= newest):
        return
    import pybind11

    flags = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden", "-pthread"]
    flags += [f"-I{path}" for path in (sysconfig.get_path("include"), pybind11.get_include(), RUNTIME)]
    with TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:

        def compiled(source: Path) -> str:
            result = str(Path(folder) / f"{source.stem}.o")
            subprocess.run([CXX, *flags, "-c", str(source), "-o", result], check=True)
            return result

        objects = list(pool.map(compiled, (s for s in sources if s.suffix == ".cpp")))
        staged = target.with_name(f"_runner.{os.getpid()}.so")
        subprocess.run([CXX, "-shared", "-pthread", *objects, "-o", str(staged), "-ldl"], check=True)
        os.utime(staged, (newest, newest))  # what changes while this compiles is newer
        staged.replace(target)


def expected(q: Any, qd: Any, qdd: Any = 0.0, gravity: Any = -9.81, f_ext: Any = 0.0, probe: Any = 0.0) -> Any:
    """What the toy unit computes; gravity is its third component."""
    pushed = np.asarray(f_ext)[..., : np.shape(qd)[-1]] if np.ndim(f_ext) else f_ext
    return qd + np.sum(q, axis=-1, keepdims=True) + gravity + 2 * np.asarray(qdd) + 3 * np.asarray(pushed) + probe


def evaluate(name: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The toy algorithms for the reference device, written with NumPy."""
    variant = 2 if "qdd" in inputs else 1
    given = {n: inputs[n] for n in ("qdd", "f_ext") if n in inputs}
    probe = variant * inputs["probe"] if "probe" in inputs else 0.0
    tau = expected(inputs["q"], inputs["qd"], gravity=inputs["gravity"][:, 2:], probe=probe, **given)
    batch, nv = inputs["qd"].shape
    outer = inputs["qd"][:, :, None] * np.arange(1, nv + 1)
    return {"tau": tau, "outer": outer.reshape(batch, nv * nv)} if name == "pair_of_toys" else {"tau": tau}


def make_record(model: Model, dtype: str = "float64", **more: Any) -> RobotRecord:
    declarations = {a.name: a for a in (TOY, PAIR, ABSENT)}
    return RobotRecord("flyer", model, declarations, ("toy", "pair_of_toys"), dtype=dtype, **more)
