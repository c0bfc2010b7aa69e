"""Facts of a summary that explain a run: times, buffers, operations, imports, plugins, versions and hardware."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from pippin.components.tracing import HookTrace
from pippin.report.markup import Markup, bars, definitions, element, folded, joined, section, table
from pippin.runs.result import score_text


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
