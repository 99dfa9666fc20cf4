"""Draws the figure of the README from the JSON of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
ALGORITHMS = {
    "inverse_dynamics": "inverse dynamics (RNEA)",
    "aba": "forward dynamics (ABA)",
    "crba": "mass matrix M (CRBA)",
    "minv": "its inverse M⁻¹",
    "inverse_dynamics_gradient": "∂ inverse dynamics",
    "forward_dynamics_gradient": "∂ forward dynamics",
}
ROBOTS = {"iiwa14": "iiwa14 · 7 joints, fixed", "go2": "Go2 · 12 joints, floating", "g1": "G1 · 29 joints, floating"}
SERIES = {  # of a measurement's name: label, colour
    "pinocchio": ("Pinocchio C++, float64", "#b9bec7"),
    "float64": ("grid-rbd, float64", "#2f6f9f"),
    "float32": ("grid-rbd, float32", "#e0883a"),
}
INK, FAINT = "#22262e", "#7a818c"
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.hashsalt": "grid-rbd",
    "text.color": INK,
    "axes.labelcolor": FAINT,
    "xtick.color": FAINT,
    "ytick.color": INK,
    "figure.titlesize": 11,
    "figure.titleweight": "bold",
}


def draw(result: Path) -> None:
    """Write ``docs/figures/speed.svg`` and ``.png``."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    data = json.loads(result.read_text("utf-8"))
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure, panels = plt.subplots(1, len(ROBOTS), figsize=(11, 3.9), sharey=True)
        for axes, (robot, title) in zip(panels, ROBOTS.items()):
            _panel(axes, robot, title, data["measurements"])
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="lower center", ncols=len(SERIES), frameon=False, bbox_to_anchor=(0.5, -0.01)
        )
        figure.suptitle("Time per sample, one thread, batch of 1024; × how many times faster than Pinocchio", y=0.985)
        figure.tight_layout(rect=(0, 0.05, 1, 1), w_pad=2)
        FIGURES.mkdir(parents=True, exist_ok=True)
        figure.savefig(FIGURES / "speed.svg", metadata={"Date": None})
        figure.savefig(FIGURES / "speed.png", dpi=200)
        plt.close(figure)


def _panel(axes: Axes, robot: str, title: str, values: dict[str, float]) -> None:
    """Draw one robot: a group of bars per algorithm, with the ratio to the peer beside ours."""
    height = 0.27
    for k, (series, (label, colour)) in enumerate(SERIES.items()):
        times = [values[f"{robot}.{algorithm}.{series}.ns_per_sample"] for algorithm in ALGORITHMS]
        rows = [row + (k - 1) * height for row in range(len(ALGORITHMS))]
        axes.barh(rows, times, height * 0.92, color=colour, label=label)
        for row, time, algorithm in zip(rows, times, ALGORITHMS):
            ratio = values.get(f"{robot}.{algorithm}.{series}.speedup")
            text = _time(time) if ratio is None else f"{ratio:.0f}×"
            weight = "normal" if ratio is None else "bold"
            axes.text(time * 1.12, row, text, va="center", fontsize=7, color=INK, fontweight=weight)
    axes.set_title(title, fontsize=10)
    axes.set_yticks(range(len(ALGORITHMS)), list(ALGORITHMS.values()))
    axes.set_ylim(len(ALGORITHMS) - 0.45, -0.55)
    axes.set_xscale("log")
    axes.set_xlim(1, 3e5)
    axes.set_xticks([1, 10, 100, 1e3, 1e4, 1e5], ["1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs"], fontsize=7.5)
    axes.minorticks_off()
    axes.tick_params(length=0)
    axes.grid(axis="x", color="#e6e8ec", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#cfd3da")


def _time(nanoseconds: float) -> str:
    return f"{nanoseconds:.0f} ns" if nanoseconds < 1000 else f"{nanoseconds / 1000:.1f} µs"
