"""Results of a run: the summary, the files of its folder, and what the command prints of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig
from pippin.errors import PluginError, SimulationError
from pippin.simulation import Simulation

from ._progress import Progress

if TYPE_CHECKING:
    from pathlib import Path

    from pippin.analysis.run_folder import RunFolder

__all__ = ["End", "finish", "line", "ran", "report", "summary_of", "write"]

End: TypeAlias = "SimulationError | PluginError | KeyboardInterrupt"
"""What ends a run early: the results so far are written all the same."""

_RESULTS = ("worlds", "steps", "simulated_time", "world_steps_per_second", "real_time_factor", "captured", "failure")
"""Keys of the summary that `--json` prints, besides the run folder."""


def ran(simulation: Simulation, first: int, notes: Sequence[str]) -> dict[str, Any]:
    """Return what a simulation did and what did it, for `summary_of`.

    Args:
        simulation: The simulation, at the end.
        first: Control steps before the run.
        notes: The notes on its start.
    """
    from pippin.analysis.summary import what_ran

    return {
        "worlds": simulation.world_count,
        "first_step": first,
        "steps": simulation.step_count - first,
        "seconds_waited": simulation.seconds_waited,
        "recordings": _recordings(simulation),
        **what_ran(simulation, notes),
    }


def summary_of(ran: Mapping[str, Any], config: SimulationConfig, progress: Progress, end: End | None) -> dict[str, Any]:
    """Return the summary of a run.

    Args:
        ran: What ran, as `ran` gives it.
        config: The configuration.
        progress: The progress, with the duration of the phases.
        end: What ended the run early, if anything.
    """
    from pippin.analysis.speed import speed_of

    control_dt = config.simulation.dt * config.simulation.decimation
    facts = {name: value for name, value in ran.items() if name not in ("first_step", "seconds_waited", "recordings")}
    worlds, steps = facts.pop("worlds"), facts.pop("steps")
    measured = max(steps - ("capture" in progress.seconds), 0)
    return {
        "command": sys.argv,
        "worlds": worlds,
        "start_time": ran["first_step"] * control_dt,
        "steps": steps,
        "simulated_time": steps * control_dt,
        **speed_of(config, worlds * measured, measured, progress.seconds.get("run", 0.0) - ran["seconds_waited"]),
        "captured": facts["program"]["captured"],
        "failure": "stopped" if isinstance(end, KeyboardInterrupt) else None if end is None else str(end),
        "seconds": progress.seconds,
        "recordings": ran["recordings"],
        **facts,
    }


def _recordings(simulation: Simulation) -> dict[str, Any]:
    """Return file, worlds and number of rows of each recorder, by label."""
    from pippin.recording import Recorder

    found = {**simulation.recorders, **simulation.plugins}
    return {
        label: {"file": str(each.path), "worlds": each.worlds.tolist(), "rows": each.row_count}
        for label, each in found.items()
        if isinstance(each, Recorder)
    }


def write(
    folder: RunFolder,
    file: Path,
    config: SimulationConfig,
    summary: Mapping[str, Any],
    trace: HookTrace | None = None,
) -> None:
    """Add configuration, summary and report to the files of recorders and viewers in the run folder."""
    folder.write_config(config)
    folder.write_summary(summary)
    if trace is not None:
        folder.write_trace(trace)
    folder.write_report(file, config, summary, trace)


def report(summary: Mapping[str, Any], folder: RunFolder, progress: Progress) -> dict[str, Any]:
    """Print the main facts of a summary, and return the results that `--json` prints."""
    reasons = summary["program"]["eager_reasons"]
    for name, reason in reasons.items():
        progress.note(f"eager: {name}: {reason}")
    for name, texts in summary["notes"].items():
        for text in texts:
            progress.note(f"{name}: {text}", once=f"{name}: {text}")
    if summary["capacities"]:
        rooms = {row["field"]: row["allocated"] for row in summary["capacities"]}
        progress.note("room for " + ", ".join(f"{field} = {allocated}" for field, allocated in rooms.items()))
    steps = f"{summary['steps']} steps" if summary["steps"] != 1 else "1 step"
    progress.note(f"{summary['worlds']} worlds, {steps}, {summary['simulated_time']:.6g} s simulated")
    if summary["world_steps_per_second"] is not None:
        progress.note(f"{_speed(summary)}, {'captured' if summary['captured'] else 'not captured'}")
    progress.note(f"run folder: {folder.path}")
    return {name: summary[name] for name in _RESULTS} | {"run_folder": str(folder.path)}


def line(time: float, speed: Mapping[str, float | None], left: float) -> str:
    """Return the line of a running simulation: its time [s], its speed, and the time that is left [s]."""
    return f"t = {time:.2f} s, {_speed(speed)}, {timedelta(seconds=round(left))} to go"


def _speed(speed: Mapping[str, Any]) -> str:
    return f"{speed['world_steps_per_second']:,.0f} world-steps/s, {speed['real_time_factor']:.3g} × real time"


def finish(results: dict[str, Any], end: End | None, *, as_json: bool) -> None:
    """Print the results as a line of JSON if asked, and raise the exception that ended the run early, if any."""
    if as_json:
        click.echo(json.dumps(results, ensure_ascii=False))
    if end is not None:
        raise end
