"""Files of a run: its configuration, its summary, and the page of what ran, how it ended, and the recorded series."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig, dump_toml
from pippin.recording.series import Series
from pippin.report.chart import Chart
from pippin.report.markup import Markup, element, folded, heading, noted, section
from pippin.report.whole_page import page, videos
from pippin.runs.reading import Run
from pippin.studies import RunFolder

from .chart_contents import COLUMNS, ChartContent, chart_contents
from .facts import course, hook_table, imports, matter_table, origins, task_table

_NUMBERS_MAX = 3_000_000
"""Largest number of values on a page, beyond the first world's: 8 MB of text."""

_WORLDS_MAX = 8
"""Largest number of worlds on a page."""


def run_page(
    file: str,
    summary: Mapping[str, Any],
    series: Mapping[str, Series],
    config: str,
    *,
    folder: Path,
    trace: HookTrace | None = None,
    worlds: Sequence[int] | None = None,
) -> str:
    """Return the page of a run: its summary as in `summary.json`, its recorded series by name with `time` [s], its
    configuration as TOML, the videos of its folder, and the trace of its hook calls, if there is one. `worlds` are the
    ones to draw; None draws the first recorded ones.
    """
    drawn = chart_contents(series)
    time = np.asarray(series["time"].values)
    recorded = max((quantity.world_count for quantity in drawn), default=1)
    shown = (worlds or range(recorded))[: _shown_count(drawn, len(time), recorded)]
    body = [
        *_header(file, summary),
        section("Video", *videos(folder), id="video"),
        _notes(summary),
        task_table(summary),
        matter_table(summary),
        _series(drawn, time, summary, _bar(shown, recorded), len(shown)),
        course(summary),
        imports(summary),
        origins(summary),
        section("Hook calls", hook_table(trace) if trace else None, id="hooks"),
        section("Settings", folded("config.toml, with every default", element("pre", config)), id="settings"),
    ]
    return page(f"{Path(file).stem}: run report", body)


def _header(file: str, summary: Mapping[str, Any]) -> Iterator[Markup]:
    failure = summary["failure"]
    badge = {None: ("finished", "good"), "stopped": ("stopped", "")}.get(failure, ("failed", "bad"))
    title = element("h1", Path(file).name, element("span", badge[0], class_=f"badge {badge[1]}".strip()))
    program, *arguments = summary["command"]
    command = shlex.join([os.path.basename(program), *arguments])
    yield heading(title, command, _tiles(summary))
    if failure == "stopped":
        yield element("div", f"Stopped by the user after {summary['simulated_time']:.6g} s.", class_="box note")
    elif failure is not None:
        yield element("div", failure, class_="box bad")


def _tiles(summary: Mapping[str, Any]) -> dict[str, str]:
    plugins, hardware = summary["plugins"], summary["hardware"]
    speed, factor = summary["world_steps_per_second"], summary["real_time_factor"]
    start = f" from t = {summary['start_time']:.6g} s" if summary["start_time"] else ""
    return {
        "solver": plugins["solver"]["type"] if "solver" in plugins else "none",
        "worlds": f"{summary['worlds']:,}",
        "control steps": f"{summary['steps']:,}",
        f"simulated{start}": f"{summary['simulated_time']:.6g} s",
        "world-steps/s": "not measured" if speed is None else f"{speed:,.0f}",
        "× real time": "not measured" if factor is None else f"{factor:.3g}",
        "control step": "captured" if summary["captured"] else "not captured",
        "device": hardware.get("gpu", hardware["device"]),
    }


def _notes(summary: Mapping[str, Any]) -> Markup:
    """Return notes and warnings by component; what is not captured, with the reason, is one of them."""
    notes = {name: list(texts) for name, texts in summary["notes"].items()}
    for name, reason in summary["program"]["eager_reasons"].items():
        notes.setdefault(name, []).append(f"not captured: {reason}")
    return section("Notes", noted(notes), id="notes")


def _shown_count(drawn: Sequence[ChartContent], row_count: int, recorded: int) -> int:
    """Return how many of the first recorded worlds the page can hold, at least one."""
    points = min(row_count, 2 * COLUMNS) * sum(quantity.line_count for quantity in drawn)
    return max(1, min(recorded, _WORLDS_MAX, _NUMBERS_MAX // max(points, 1)))


def _series(
    drawn: Sequence[ChartContent],
    time: np.ndarray,
    summary: Mapping[str, Any],
    bar: Markup,
    worlds: int,
) -> Markup:
    if not drawn:
        return section("Series", element("p", "Nothing was recorded."), id="series")
    parts = [bar]
    order = list(dict.fromkeys(quantity.component for quantity in drawn))
    together = sorted(drawn, key=lambda quantity: order.index(quantity.component))
    for component, group in groupby(together, key=lambda quantity: quantity.component):
        plugin = summary["plugins"].get(component, {}).get("type")
        title = element("h3", component or "state", element("small", plugin) if plugin else None)
        made = [_of(quantity, time, worlds) for quantity in group]
        still = ", ".join(
            f"{one.title} = {one.constant:.4g} {one.unit.removeprefix('1')}".strip()
            for one in made
            if one.constant is not None
        )
        parts += [title, element("div", *(chart for chart in made if chart.constant is None), class_="charts")]
        parts += [element("p", element("small", f"Without a chart, as they never change: {still}"))] if still else []
    return section("Series", *parts, id="series")


def _of(quantity: ChartContent, time: np.ndarray, worlds: int) -> Chart:
    """Return the chart of a quantity; lines of targets stay with those of their positions."""
    chart = quantity.chart(time, worlds)
    return chart.condensed() if len(quantity.parts) == 1 else chart


def _bar(shown: Sequence[int], recorded: int) -> Markup:
    """Return the choice of the world, and the place of the time under the cursor."""
    options = (element("option", world, value=index) for index, world in enumerate(shown))
    choice = element("label", "world ", element("select", *options, id="world", autocomplete="off"))
    rest = f"{len(shown)} of {recorded} recorded worlds are on this page" if len(shown) < recorded else None
    hint = element("small", "a click on a name hides its line")
    parts = [choice if len(shown) > 1 else None, element("small", rest) if rest else None, hint]
    return element("div", *parts, element("output", id="clock"), class_="bar")


def write_run(
    folder: RunFolder,
    file: str,
    config: SimulationConfig,
    summary: Mapping[str, Any],
    trace: HookTrace | None = None,
) -> None:
    """Add configuration, summary, page and a trace of the hook calls, if there is one, to the recordings of a run."""
    folder.write_config(config)
    folder.write_summary(summary)
    if trace is not None:
        with folder.written("hooks.csv") as path:
            trace.write(path)
    folder.write_text("report.html", _page(folder, file, config, summary, trace))


def _page(
    folder: RunFolder, file: str, config: SimulationConfig, summary: Mapping[str, Any], trace: HookTrace | None
) -> str:
    """Return the page of a run, with the first recording and the videos that are in the folder."""
    with Run(folder.path) as run:
        recording = next(iter(run.recordings.values()), None)
        series = {"time": Series(values=np.zeros(0), units=("s",)), **(recording or {})}
        if recording is not None:
            series["time"] = recording["time"]
        worlds = None if recording is None else recording.worlds
        return run_page(file, summary, series, dump_toml(config), folder=folder.path, trace=trace, worlds=worlds)
