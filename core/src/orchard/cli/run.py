"""`orchard run`: simulate what a file describes, and leave a run folder behind."""

from __future__ import annotations

import json
import math
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from orchard.config import SimulationConfig, load
from orchard.errors import ConfigError, SimulationError

if TYPE_CHECKING:
    from orchard.progress import Progress
    from orchard.recording import Recorder
    from orchard.run_folder import RunFolder
    from orchard.simulation import Simulation

DEFAULT_DURATION = 5.0
"""What is simulated where neither steps nor a duration are given [s]."""

LOOK_PERIOD = 0.25
"""Time between two looks at the simulation [s]: each waits for the device, and redraws the line."""

RESULTS = ("worlds", "steps", "simulated_time", "world_steps_per_second", "real_time_factor", "captured", "failure")
"""What `--json` prints of the summary, beside the run folder."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--steps", type=click.IntRange(min=1), help="Control steps to simulate.")
@click.option("--duration", type=float, metavar="SECONDS", help=f"Time to simulate, by default {DEFAULT_DURATION:g} s.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Set a value on top of the file.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="The run folder, new or empty.")
@click.option("--record-worlds", type=click.IntRange(min=0), default=1, help="How many worlds to record, by default 1.")
@click.option("--json", "as_json", is_flag=True, help="End with one line of JSON; progress goes to standard error.")
def run(
    file: Path,
    steps: int | None,
    duration: float | None,
    overrides: tuple[str, ...],
    out: Path | None,
    record_worlds: int,
    as_json: bool,
) -> None:
    """Simulate what FILE describes.

    The run folder, by default runs/NAME-DATE-TIME, holds the resolved configuration (config.toml), a summary
    (summary.json), the time series (series.npz) and, with the extra orchard[plot], a picture of them (series.png).

    World-steps per second are physics steps of all worlds together: worlds × control steps × decimation ÷ wall time,
    from the second control step on. The first one runs eagerly and is then captured; it is not measured.
    """
    from orchard.progress import shown_progress
    from orchard.recording import Recorder
    from orchard.run_folder import RunFolder

    config = load(file, overrides)
    count = step_count(config, steps, duration)
    folder = RunFolder.named_after(file) if out is None else RunFolder(out)
    recorder = Recorder(count, record_worlds)
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with build(config, progress, recorder) as simulation:
            end = _advance(simulation, count, progress)
            summary = _summary(simulation, recorder, progress, end)
        with progress.phase("write"):
            is_drawn = _write(folder, config, recorder, summary)
        if not is_drawn:
            progress.note("no picture: matplotlib is not installed; install orchard[plot]")
        _report(summary, folder, progress)
    if as_json:
        results = {name: summary[name] for name in RESULTS} | {"run_folder": str(folder.path)}
        click.echo(json.dumps(results, ensure_ascii=False))
    if end is not None:
        raise end


def step_count(config: SimulationConfig, steps: int | None, duration: float | None) -> int:
    """Return the number of control steps that the command line asks for.

    Raises:
        ConfigError: Steps and duration are both given, or the duration is not a whole number of control steps.
    """
    control_dt = config.simulation.dt * config.simulation.decimation
    if steps is not None and duration is not None:
        raise ConfigError(f"--duration: got {duration!r} beside --steps {steps!r}; leave one of the two out")
    if steps is not None:
        return steps
    if duration is None:
        return math.ceil(round(DEFAULT_DURATION / control_dt, 6))
    if not (math.isfinite(duration) and duration > 0.0):
        raise ConfigError(f"--duration: expected a positive time in seconds, got {duration!r}")
    count = round(duration / control_dt)
    if count < 1 or not math.isclose(count * control_dt, duration, rel_tol=1e-9):
        below = math.floor(duration / control_dt)
        near = " or ".join(f"{whole * control_dt:.9g}" for whole in (below, below + 1) if whole)
        raise ConfigError(
            f"--duration: expected a whole number of control steps of {control_dt:.9g} s, got {duration!r}; use {near}"
        )
    return count


def build(config: SimulationConfig, progress: Progress, *plugins: Any) -> Simulation:
    """Return the simulation of a configuration; newton and warp are imported on the way."""
    with progress.phase("build"):
        from orchard.simulation import Simulation

        return Simulation(config, plugins=plugins)


def prepare(simulation: Simulation, progress: Progress) -> None:
    """Compile what a step needs, take the first step, and capture.

    Raises:
        SimulationError: The step cannot be captured although it must, or it failed.
    """
    from orchard.compilation import compile_step

    with progress.phase("compile"):
        compile_step(simulation, lambda ready, count: progress.update(f"{ready} of {count}"))
    with progress.phase("capture"):
        simulation.step()
        simulation.check()


def _advance(simulation: Simulation, count: int, progress: Progress) -> SimulationError | KeyboardInterrupt | None:
    """Step to the end; return what ended the run before."""
    try:
        prepare(simulation, progress)
        with progress.phase("run"):
            _step_on(simulation, count, progress)
    except (SimulationError, KeyboardInterrupt) as end:
        return end
    return None


def _step_on(simulation: Simulation, count: int, progress: Progress) -> None:
    """Step and look, at first after one step, then about four times a second."""
    from orchard.summary import throughput

    first, start = simulation.step_count, time.perf_counter()
    looked, stride = start, 1
    while simulation.step_count < count:
        stride = min(stride, count - simulation.step_count)
        simulation.step(stride)
        simulation.check()
        now = time.perf_counter()
        stride = max(1, min(2 * stride, int(stride * LOOK_PERIOD / (now - looked))))
        looked = now
        done = simulation.step_count - first
        left = (now - start) * (count - simulation.step_count) / done
        progress.update(_line(simulation, throughput(simulation, done, now - start), left))


def _line(simulation: Simulation, speed: dict[str, float | None], left: float) -> str:
    return f"t = {simulation.time:.2f} s, {_speed(speed)}, {timedelta(seconds=round(left))} to go"


def _speed(speed: dict[str, Any]) -> str:
    return f"{speed['world_steps_per_second']:,.0f} world-steps/s, {speed['real_time_factor']:.3g} × real time"


def _summary(
    simulation: Simulation, recorder: Recorder, progress: Progress, end: SimulationError | KeyboardInterrupt | None
) -> dict[str, Any]:
    from orchard.summary import throughput, what_ran

    measured = max(simulation.step_count - 1, 0)
    return {
        "command": sys.argv,
        "worlds": simulation.world_count,
        "steps": simulation.step_count,
        "simulated_time": simulation.time,
        **throughput(simulation, measured, progress.seconds.get("run", 0.0)),
        "captured": simulation.program.is_captured,
        "failure": "stopped" if isinstance(end, KeyboardInterrupt) else None if end is None else str(end),
        "seconds": progress.seconds,
        "recorded_worlds": recorder.worlds,
        **what_ran(simulation),
    }


def _write(folder: RunFolder, config: SimulationConfig, recorder: Recorder, summary: dict[str, Any]) -> bool:
    """Fill the run folder; tell whether there is a picture."""
    series = recorder.series()
    folder.write_config(config)
    folder.write_summary(summary)
    folder.write_series(series)
    return folder.write_picture(series)


def _report(summary: dict[str, Any], folder: RunFolder, progress: Progress) -> None:
    reasons = summary["program"]["eager_reasons"]
    for name, reason in reasons.items():
        progress.note(f"eager: {name}: {reason}")
    if summary["capacities"]:
        progress.note("room for " + ", ".join(f"{row['field']} = {row['allocated']}" for row in summary["capacities"]))
    steps = f"{summary['steps']} steps" if summary["steps"] != 1 else "1 step"
    progress.note(f"{summary['worlds']} worlds, {steps}, {summary['simulated_time']:.6g} s simulated")
    if summary["world_steps_per_second"] is not None:
        progress.note(f"{_speed(summary)}, {'captured' if summary['captured'] else 'not captured'}")
    progress.note(f"run folder: {folder.path}")
