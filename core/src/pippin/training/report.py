"""Page of a training: how far it is, and the mean return and length of episodes as charts over time."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pippin.runs.report.chart import Chart, Line
from pippin.runs.report.markup import element, folded, heading, section
from pippin.runs.report.page import Charts, grid, page

_CURVES = {"mean_return": ("Mean return", ""), "mean_length": ("Mean length of episodes", "control steps")}


def training_page(file: str, curve: Path, config: str, play: str) -> str:
    """Return the page of a training.

    Args:
        file: The configuration file.
        curve: The table with a row for each iteration.
        config: The configuration as TOML.
        play: The command that plays the policy.
    """
    with curve.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    last, charts = rows[-1], Charts()
    tiles = {
        "iterations": last["iteration"],
        "steps of all worlds": f"{int(last['steps']):,}",
        "wall time": f"{float(last['seconds']):.0f} s",
        "mean return": last["mean_return"] or "no episode has ended",
        "mean length": last["mean_length"] or "no episode has ended",
    }
    body = [
        heading(f"Training of {Path(file).name}", play, tiles),
        section("Episodes", grid([charts.place(chart) for chart in _charts(rows)]), id="episodes"),
        section("Settings", folded("config.toml, with every default", element("pre", config)), id="settings"),
    ]
    return page(f"{Path(file).stem}: training", body, charts)


def _charts(rows: list[dict[str, Any]]) -> Iterator[Chart]:
    times = np.array([float(row["seconds"]) for row in rows])
    for key, (title, unit) in _CURVES.items():
        values = np.array([float(row[key]) if row[key] else np.nan for row in rows])
        yield Chart(
            title=title,
            unit=unit,
            lines=[Line(name="of the last 100 episodes", color=0)],
            times=times,
            values=values[None, None, :, None],
            gaps=np.array([[int(np.isnan(values).sum())]]),
            note="over wall time",
        )
