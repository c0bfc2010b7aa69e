"""Page of a training: how far it is, and the mean return and length of episodes as charts over time."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pippin.report import Chart, Markup, heading, section

_CURVES = {"mean_return": ("Mean return", ""), "mean_length": ("Mean length of episodes", "control steps")}


def training_page(curve: Path, file: Path, play: str) -> Iterator[Markup]:
    """Yield the parts of the page of a training of a file: `curve` has a row for each iteration, `play` is the command
    that plays the policy.
    """
    with curve.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    last = rows[-1]
    tiles = {
        "iterations": last["iteration"],
        "steps of all worlds": f"{int(last['steps']):,}",
        "wall time": f"{float(last['seconds']):.0f} s",
        "mean return": last["mean_return"] or "no episode has ended",
        "mean length": last["mean_length"] or "no episode has ended",
    }
    yield heading(f"Training of {file.name}", play, tiles)
    yield section("Episodes", [*_charts(rows)], id="episodes")


def _charts(rows: list[dict[str, Any]]) -> Iterator[Chart]:
    times = np.array([float(row["seconds"]) for row in rows])
    for key, (title, unit) in _CURVES.items():
        values = np.array([float(row[key]) if row[key] else np.nan for row in rows])
        gaps = np.array([[int(np.isnan(values).sum())]])
        yield Chart.of(title, {"of the last 100 episodes": values}, times, unit, gaps=gaps, note="over wall time")
