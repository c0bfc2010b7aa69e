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
from pippin.report.markup import Markup, bars, definitions, element, folded, heading, joined, noted, section, table
from pippin.report.whole_page import page, videos
from pippin.runs.reading import Run
from pippin.runs.result import score_text
from pippin.studies import RunFolder

from .chart_contents import COLUMNS, ChartContent, chart_contents

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
    points = min(row_count, 2 * COLUMNS) * sum(quantity.line_count for quantity in drawn)
    return max(1, min(recorded, _WORLDS_MAX, _NUMBERS_MAX // max(points, 1)))


def _series(
    drawn: Sequence[ChartContent], time: np.ndarray, summary: Mapping[str, Any], bar: Markup, worlds: int
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
    chart = quantity.chart(time, worlds)
    return chart.condensed() if len(quantity.parts) == 1 else chart


def _bar(shown: Sequence[int], recorded: int) -> Markup:
    options = (element("option", world, value=index) for index, world in enumerate(shown))
    choice = element("label", "world ", element("select", *options, id="world", autocomplete="off"))
    rest = f"{len(shown)} of {recorded} recorded worlds are on this page" if len(shown) < recorded else None
    hint = element("small", "a click on a name hides its line")
    parts = [choice if len(shown) > 1 else None, element("small", rest) if rest else None, hint]
    return element("div", *parts, element("output", id="clock"), class_="bar")


def write_run(
    folder: RunFolder, file: str, config: SimulationConfig, summary: Mapping[str, Any], trace: HookTrace | None = None
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
    with Run(folder.path) as run:
        recording = next(iter(run.recordings.values()), None)
        series = {"time": Series(values=np.zeros(0), units=("s",)), **(recording or {})}
        if recording is not None:
            series["time"] = recording["time"]
        worlds = None if recording is None else recording.worlds
        return run_page(file, summary, series, dump_toml(config), folder=folder.path, trace=trace, worlds=worlds)


def course(summary: Mapping[str, Any]) -> Markup:
    """Return the wall time of the phases, the buffers and the operations of a step."""
    seconds = summary["seconds"]
    phases = bars(seconds, {name: f"{value:.3g} s" for name, value in seconds.items()}) if seconds else None
    sizes = [(row["field"], row["holds"], f"{row['allocated']:,}") for row in summary["capacities"]]
    buffers = table(["key", "holds", "room"], sizes, numeric=1) if sizes else None
    wide = element("div", section("Wall time", phases), section("Buffers", buffers), class_="columns")
    return joined([wide, section("Control step", *_segments(summary["program"]), id="program")])


def _segments(program: Mapping[str, Any]) -> Iterator[Markup]:
    for index, segment in enumerate(program["segments"]):
        names = segment["operations"]
        how = "a graph" if segment["captured"] else "called one by one"
        title = f"part {index + 1} of {len(program['segments'])}: {how}, {len(names)} operations"
        runs = [(name, len(list(same))) for name, same in groupby(names)]
        items = (element("li", name if count == 1 else f"{name} × {count}") for name, count in runs)
        yield folded(title, element("ul", *items))


def task_table(summary: Mapping[str, Any]) -> Markup:
    """Return the score of the task, the mean of each reward over an episode, and the ends by each termination."""
    score = summary.get("task")
    if score is None:
        return Markup()
    line = score_text(score, summary["simulated_time"] / max(summary["steps"], 1))
    rows = [(name, f"{value:.4g}") for name, value in score["rewards"].items() if value is not None]
    rewards = table(["reward, weighted", "mean of an episode"], rows, numeric=1) if rows else None
    counts = score["terminations"] | {"time is over": score["truncated"], "diverged": score["diverged"]}
    ends = table(["end", "episodes"], [(name, f"{count:,}") for name, count in counts.items()], numeric=1)
    numbers = [(name, f"{each['mean']:.4g}") for name, each in score["metrics"].items() if each["mean"] is not None]
    metrics = table(["metric", "mean of the episodes"], numbers, numeric=1) if numbers else None
    tables = element("div", rewards, ends if score["episodes"] else None, metrics, class_="columns")
    return section("Task", element("p", line), tables, id="task")


def matter_table(summary: Mapping[str, Any]) -> Markup:
    """Return where each object of matter was at the start and is at the end, how large it is, and how fast."""
    matter = summary.get("matter")
    if not matter:
        return Markup()
    rows = []
    for label, each in matter.items():
        speed = "not finite" if each["largest_speed"] is None else f"{each['largest_speed']:.3g}"
        places = [_vector(each[name]) for name in ("start", "end", "extent")]
        rows.append((label, each["kind"], *places, f"{each['count']:,}", f"{each['mass']:.4g}", speed))
    head = ["object", "kind", "centre at the start [m]", "centre at the end [m]", "extent at the end [m]"]
    head += ["particles or segments", "mass [kg]", "fastest at the end [m/s]"]
    line = "Of an object that is in several worlds, the copy in the first of them." if summary["worlds"] > 1 else ""
    return section("Matter", element("p", line) if line else None, table(head, rows, numeric=3), id="matter")


def _vector(values: Sequence[float] | None) -> str:
    return "not finite" if values is None else ", ".join(f"{value:.3g}" for value in values)


def imports(summary: Mapping[str, Any]) -> Markup:
    """Return what the import of each asset changed."""
    reports = []
    for file, differences in summary["imports"].items():
        count = f"{len(differences)} difference{'' if len(differences) == 1 else 's'}"
        items = (element("li", text) for text in differences)
        reports.append(folded(f"{file}: {count}", element("ul", *items)))
    return section("Import of the assets", *reports, id="imports")


def origins(summary: Mapping[str, Any]) -> Markup:
    """Return plugins, versions and hardware."""
    rows = [(name, each["type"], each["distribution"], each["version"]) for name, each in summary["plugins"].items()]
    plugins = table(["component", "type", "distribution", "version"], rows) if rows else None
    hardware = {name.replace("_", " ").replace(" gib", ""): value for name, value in summary["hardware"].items()}
    for name in ("memory", "gpu memory"):
        if hardware.get(name) is not None:
            hardware[name] = f"{hardware[name]} GiB"
    shown = {name: "not reported" if value is None else value for name, value in hardware.items()}
    columns = [
        section("Plugins", plugins),
        section("Versions", definitions(summary["versions"])),
        section("Hardware", definitions(shown)),
    ]
    return element("div", *columns, class_="columns", id="versions")


def hook_table(trace: HookTrace) -> Markup:
    """Return counts and times of hook calls."""
    head, *rows = trace.rows()
    return folded(f"{len(trace.calls):,} calls; each is in hooks.csv", table(head, rows, numeric=3))
