"""Draw the curves of the trained policies, from `docs/images/training.json`: `python docs/draw_training.py`."""

from __future__ import annotations

import io
import json
import math
import re
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parent / "images"
COLUMNS = 4


def draw(trainings: dict[str, Any]) -> Any:
    """Return a figure with a plot for each task: the return against steps, a line for each seed."""
    from matplotlib.figure import Figure

    rows = math.ceil(len(trainings) / COLUMNS)
    figure = Figure(figsize=(9.0, 1.9 * rows), layout="constrained")
    plots = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for axes, (name, training) in zip(plots, trainings.items(), strict=False):
        for seed in training["seeds"].values():
            steps, returns = zip(*seed["curve"], strict=True)
            line = axes.plot([step * 1e-6 for step in steps], returns, linewidth=1.0)[0]
            axes.plot(seed["steps"] * 1e-6, seed["return"], "o", color=line.get_color(), markersize=4.0)
        axes.set_title(name, fontsize=9)
        axes.tick_params(labelsize=7)
        axes.locator_params(nbins=4)
        axes.grid(alpha=0.3)
    for axes in plots[len(trainings) :]:
        axes.set_axis_off()
    figure.supxlabel("steps of all worlds [millions]", fontsize=9)
    figure.supylabel("mean return", fontsize=9)
    return figure


def main() -> None:
    """Draw all tasks in one picture, whose coordinates have one decimal."""
    import matplotlib

    trainings = json.loads((IMAGES / "training.json").read_text(encoding="utf-8"))
    file = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "training", "svg.fonttype": "none"}):
        draw(trainings).savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = re.sub(r"(\d+\.\d)\d+", r"\1", file.getvalue())
    (IMAGES / "training.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
