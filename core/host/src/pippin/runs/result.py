"""Result of a run: how it ended, how fast it was, and everything that its summary says."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from pippin.config import SimulationConfig
from pippin.errors import PluginError, SimulationError
from pippin.studies.summary import speed_of

End: TypeAlias = SimulationError | PluginError | KeyboardInterrupt
"""What ends a run early: the results so far are written all the same."""

_STEPS = ("worlds", "first_step", "steps", "measured_steps", "measured_seconds")
"""Facts from which a summary computes times and speeds."""


@attrs.frozen(kw_only=True, eq=False)
class RunResult:
    """Result of a run. The files of the run are in its folder, which `pippin.Run` reads."""

    worlds: int
    """The number of worlds."""

    steps: int
    """Control steps of the run."""

    simulated_time: float
    """Simulated time of the run [s]."""

    world_steps_per_second: float | None
    """Physics steps of all worlds per second, from the second control step on [1/s]; None if nothing was measured."""

    real_time_factor: float | None
    """Simulated time per wall time, likewise."""

    is_captured: bool
    """Whether the whole control step was replayed from a graph."""

    failure: str | None
    """What ended the run early: "stopped" by Ctrl-C, or the error; None if the run came to its end."""

    folder: Path
    """The run folder."""

    summary: Mapping[str, Any]
    """Everything about the run as plain data, as in `summary.json`: notes, buffers, plugins, versions, hardware."""

    end: BaseException | None = attrs.field(default=None, repr=False)
    """For the core: the exception that ended the run early."""


def result_of(summary: Mapping[str, Any], folder: Path, end: End | None) -> RunResult:
    """Return the result that a summary describes."""
    shared = ("worlds", "steps", "simulated_time", "world_steps_per_second", "real_time_factor", "failure")
    facts = {name: summary[name] for name in shared}
    return RunResult(**facts, is_captured=summary["captured"], folder=folder, summary=summary, end=end)


def summary_of(
    facts: Mapping[str, Any], config: SimulationConfig, seconds: Mapping[str, float], end: End | None
) -> dict[str, Any]:
    """Return the summary of a run as plain data: what ran, the duration of each phase [s], and what ended it early, if
    anything did.
    """
    own = {name: value for name, value in facts.items() if name not in _STEPS}
    worlds, steps, measured = facts["worlds"], facts["steps"], facts["measured_steps"]
    control_dt = config.simulation.dt * config.simulation.decimation
    return {
        "command": sys.argv,
        "worlds": worlds,
        "start_time": facts["first_step"] * control_dt,
        "steps": steps,
        "simulated_time": steps * control_dt,
        **speed_of(config, worlds * measured, measured, facts["measured_seconds"]),
        "captured": own["program"]["captured"],
        "failure": "stopped" if isinstance(end, KeyboardInterrupt) else None if end is None else str(end),
        "seconds": dict(seconds),
        "recordings": own.pop("recordings"),
        "task": None if (score := own.pop("task")) is None else score.plain(),
        **own,
    }


def score_text(score: Mapping[str, Any], control_dt: float) -> str:
    """Return a score in words, given the length of a control step [s]."""
    counts = {"time": score["timed_out"], **score["terminations"], "diverged": score["diverged"]}
    ends = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    running, texts = score["unfinished"], [] if score["episodes"] else ["no episode has ended"]
    if score["episodes"]:
        spread = f"{score['mean_return']:.4g} ± {score['std_return']:.2g}"
        if score["mean_return_half_width"] is not None:
            spread += f" (the mean ± {score['mean_return_half_width']:.2g} at 95 %)"
        texts = [f"mean return {spread}, mean length {score['mean_length'] * control_dt:.4g} s"]
        texts += [f"episodes that ended: {score['episodes']:,} ({ends})"]
        for label, each in score["metrics"].items():
            width = "" if each["half_width"] is None else f" ± {each['half_width']:.2g}"
            texts.append(f"{label} {each['mean']:.4g}{width}")
    if running["episodes"]:
        length = running["mean_length"] * control_dt
        so_far = f"mean return {running['mean_return']:.4g} so far, after {length:.4g} s"
        texts.append(f"that run on: {running['episodes']:,} ({so_far})")
    return "; ".join(texts)
