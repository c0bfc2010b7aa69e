"""Lines that a command prints about the result of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click
from pippin.runs.result import RunResult, score_text
from pippin.spelling import printable
from pippin.studies import RunProgress
from pippin.studies.summary import speed_text

_RESULTS = ("worlds", "steps", "simulated_time", "world_steps_per_second", "real_time_factor", "captured", "failure")
"""Keys of the summary that `--json` prints, besides the run folder."""

_OBJECTS_MAX = 8
"""Largest number of objects of matter that are printed."""


def report(result: RunResult, progress: RunProgress) -> None:
    """Print the main facts of a run."""
    summary = result.summary
    for name, reason in summary["program"]["eager_reasons"].items():
        progress.remark(f"eager: {name}: {reason}")
    for name, texts in summary["notes"].items():
        for text in texts:
            progress.remark(f"{name}: {text}")
    steps = f"{result.steps} steps" if result.steps != 1 else "1 step"
    if not (result.failure or "").startswith("step "):  # else the error names the step; the run noticed it later
        progress.note(f"{result.worlds} worlds, {steps}, {result.simulated_time:.6g} s simulated")
    if summary["task"] is not None and result.steps:
        progress.note(f"task: {score_text(summary['task'], result.simulated_time / result.steps)}")
    matter = summary["matter"]
    for label in list(matter)[:_OBJECTS_MAX]:
        progress.note(_matter_line(label, matter[label]))
    if len(matter) > _OBJECTS_MAX:
        progress.note(f"and {len(matter) - _OBJECTS_MAX} more objects of matter, which are in the report")
    if result.world_steps_per_second is not None:
        progress.note(f"{speed_text(summary)}, {'captured' if result.is_captured else 'not captured'}")
    progress.note(f"run folder: {result.folder}")


def finish(result: RunResult, *, as_json: bool, further: Sequence[str] = ()) -> None:
    """Print the result as a line of JSON if asked, and raise the exception that ended the run early, if any."""
    if as_json:
        shown = {name: result.summary[name] for name in (*_RESULTS, *further)}
        click.echo(printable(json.dumps({**shown, "run_folder": str(result.folder)}, ensure_ascii=False)))
    if result.end is not None:
        raise result.end


def _matter_line(label: str, facts: Mapping[str, Any]) -> str:
    elements = "segments" if facts["kind"] == "curve" else "particles"
    where = "nowhere" if facts["end"] is None else f"({', '.join(f'{each:.3g}' for each in facts['end'])}) m"
    speed = "" if facts["largest_speed"] is None else f", fastest {facts['largest_speed']:.3g} m/s"
    return f"{label}: {facts['count']:,} {elements}, {facts['mass']:.4g} kg, centre at {where}{speed}"
