"""Draw the curves of the trained policies, from `docs/images/training.json`: `python docs/draw_training.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parent / "images"
SOLVED = {"cartpole": 950.0}
"""Return that counts as solved."""


def draw(name: str, curves: dict[str, list[dict[str, float]]]) -> Any:
    """Return a figure of the returns against steps and against time, one line for each seed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    plots = figure.subplots(1, 2, sharey=True)
    for axes, (key, scale, label) in zip(
        plots, (("steps", 1e-3, "steps of all worlds [thousands]"), ("cpu", 1.0, "processor time [s]")), strict=True
    ):
        for seed, rows in curves.items():
            x = [row[key] * scale for row in rows]
            line = axes.plot(x, [row["mean"] for row in rows], marker=".", label=f"seed {seed}")[0]
            axes.fill_between(
                x, [row["min"] for row in rows], [row["mean"] for row in rows], color=line.get_color(), alpha=0.15
            )
        if name in SOLVED:
            axes.axhline(SOLVED[name], linestyle="--", color="gray", linewidth=1.0)
        axes.set(xlabel=label)
        axes.grid(alpha=0.3)
    plots[0].set(ylabel="return, mean and lowest")
    plots[0].legend()
    return figure


def main() -> None:
    """Draw one picture for each task."""
    import matplotlib

    for name, curves in json.loads((IMAGES / "training.json").read_text()).items():
        with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
            figure = draw(name, curves)
            figure.savefig(IMAGES / f"training_{name}.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
