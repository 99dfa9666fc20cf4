"""Draws the errors of the integration schemes over the step size: `python docs/figures/make_convergence.py`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

import grid_rbd
from grid_core.model import URDFWarning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "robots"
LINK = """<link name="{0}"><inertial><origin xyz="0.05 0.02 0.2"/><mass value="1"/>
<inertia ixx="0.04" iyy="0.05" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
SPHERICAL = f"""<robot name="spherical">{"".join(map(LINK.format, ("base", "upper", "lower")))}
<joint name="shoulder" type="spherical"><parent link="base"/><child link="upper"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4"/>
<axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint></robot>"""
ROBOTS: dict[str, dict[str, Any]] = {
    "arm, fixed base": {"urdf_path": EXAMPLES / "arm7.urdf"},
    "quadruped, floating base": {"urdf_path": EXAMPLES / "quadruped12.urdf", "floating_base": True},
    "arm with a spherical joint": {"urdf_string": SPHERICAL},
}
SCHEMES = {  # colour, marker
    "euler": ("#b9bec7", "o"),
    "semi_implicit_euler": ("#7a818c", "s"),
    "constant_acceleration": ("#a58b6f", "^"),
    "midpoint": ("#7fb069", "v"),
    "trapezoidal": ("#3f8f6b", "D"),
    "rk4": ("#2f6f9f", "o"),
    "rk4_mk": ("#e0883a", "o"),
}
DURATION = 0.04
STEPS = (4, 8, 16, 32)
FINEST = 128
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.hashsalt": "grid-rbd",
    "text.color": "#22262e",
    "axes.labelcolor": "#7a818c",
    "xtick.color": "#7a818c",
    "ytick.color": "#7a818c",
}


def errors(robot: Any) -> Iterator[tuple[str, list[float]]]:
    """Yield the distance of each scheme from an exact solution, for every number of steps."""
    generator = np.random.default_rng(1)
    q, qd = robot.random(1, 1)[0], generator.normal(size=robot.nv)
    u = 0.2 * generator.normal(size=robot.nv)

    def end(scheme: str, steps: int) -> Any:
        forces = np.tile(u, (steps, 1))
        return robot.rollout(q, qd, forces, DURATION / steps, integrator_type=scheme)[-1]

    exact = end("rk4_mk", FINEST)
    for scheme in SCHEMES:
        found = np.stack([end(scheme, steps) for steps in STEPS])
        moved = robot.configuration_difference(exact[: robot.nq], found[:, : robot.nq])
        yield scheme, np.linalg.norm(np.hstack([moved, found[:, robot.nq :] - exact[robot.nq :]]), axis=1).tolist()


def panel(axes: Axes, title: str, robot: Any) -> None:
    """Draw one robot: a line per scheme with its slope."""
    sizes = DURATION / np.array(STEPS)
    for scheme, found in errors(robot):
        colour, marker = SCHEMES[scheme]
        slope = np.polyfit(np.log(sizes), np.log(found), 1)[0]
        axes.loglog(sizes, found, color=colour, marker=marker, markersize=4, label=f"{scheme}: {slope:.1f}")
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("step (ms)")
    axes.set_xticks(sizes, [f"{1000.0 * size:.3g}" for size in sizes])
    axes.minorticks_off()
    axes.grid(color="#e6e8ec", linewidth=0.7)
    axes.legend(
        title="measured order", fontsize=7.5, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2
    )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def main() -> None:
    with mpl.rc_context(STYLE), warnings.catch_warnings():  # type: ignore[arg-type]
        warnings.simplefilter("ignore", URDFWarning)
        figure, panels = plt.subplots(1, len(ROBOTS), figsize=(11, 5.0))
        for axes, (title, description) in zip(panels, ROBOTS.items()):
            panel(axes, title, grid_rbd.load_robot(**description, dtype="float64", device="reference"))
        panels[0].set_ylabel(f"distance from the exact state after {DURATION} s")
        figure.tight_layout()
        figure.savefig(HERE / "convergence.svg", metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
