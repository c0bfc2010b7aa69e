"""`pippin run`: simulate a configuration file, and write a run folder."""

from __future__ import annotations

import json
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig, load
from pippin.errors import ConfigError, SimulationError
from pippin.simulation import Simulation, import_hot_modules

if TYPE_CHECKING:
    from pippin.analysis.recorder import Recorder
    from pippin.analysis.run_folder import RunFolder

    from ._progress import Progress

DEFAULT_DURATION = 5.0
"""Simulated time if neither steps nor a duration are given [s]."""

LOOK_PERIOD = 0.25
"""Time between two checks of the simulation [s]: each waits for the device, and redraws the line."""

PATH = click.Path(path_type=Path)

RESULTS = ("worlds", "steps", "simulated_time", "world_steps_per_second", "real_time_factor", "captured", "failure")
"""Keys of the summary that `--json` prints, besides the run folder."""


def simulation_options(command: Any) -> Any:
    """Add the common options of `run` and `resume`: the duration, and the files to write."""
    options = (
        click.option("--steps", type=click.IntRange(min=1), help="Control steps to simulate."),
        click.option(
            "--duration", type=float, metavar="SECONDS", help=f"Time to simulate, by default {DEFAULT_DURATION:g} s."
        ),
        click.option("--out", type=PATH, metavar="DIR", help="The run folder, new or empty."),
        click.option(
            "--record-worlds", type=click.IntRange(min=0), default=1, help="Number of worlds to record, by default 1."
        ),
        click.option(
            "--checkpoint",
            "target",
            type=PATH,
            metavar="FILE",
            help="Save the simulation for `pippin resume`, at the end or when Ctrl-C stops it.",
        ),
        click.option(
            "--json", "as_json", is_flag=True, help="End with one line of JSON; progress goes to standard error."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("file", type=PATH)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Replace a value of the file.")
@click.option(
    "--trace-hooks", "is_traced", is_flag=True, help="List every hook call with its component, start and duration."
)
@simulation_options
def run(
    file: Path,
    overrides: tuple[str, ...],
    is_traced: bool,
    steps: int | None,
    duration: float | None,
    **options: Any,
) -> None:
    """Simulate the configuration in FILE.

    The run folder, by default runs/NAME-DATE-TIME, contains the resolved configuration (config.toml), a summary
    (summary.json), the time series (series.npz) and, with the extra pippin[plot], a plot of them (series.png).

    World-steps per second are physics steps of all worlds together: worlds × control steps × decimation ÷ wall time,
    from the second control step on. The first step runs eagerly and is then captured; it is not measured.

    --trace-hooks prints a table at the end, and writes the single calls into the run folder (hooks.csv). Its times are
    those of the host.
    """
    config = load(file, overrides)
    trace = HookTrace() if is_traced else None
    start = partial(build, config, trace=trace)
    simulate(file, config, start, step_count(config, steps, duration), trace=trace, **options)


def simulate(
    file: Path,
    config: SimulationConfig,
    start: Callable[..., Simulation],
    count: int,
    *,
    out: Path | None,
    record_worlds: int,
    target: Path | None,
    as_json: bool,
    trace: HookTrace | None = None,
) -> None:
    """Simulate, and write a run folder.

    Args:
        file: The simulated file, which gives the folder its name.
        config: Its configuration.
        start: Returns the simulation, given the progress and the recorder.
        count: Control steps to simulate.
        out: The run folder; by default a new one.
        record_worlds: Number of worlds to record.
        target: The checkpoint to write, if any.
        as_json: Whether standard output is only for one line of JSON.
        trace: Trace that records the hook calls of the simulation, if any.

    Raises:
        SimulationError: The simulation failed; raised after the folder is written.
        ConfigError: The folder or the checkpoint cannot be written.
    """
    from ._progress import shown_progress

    if target is not None and (target.is_dir() or not target.parent.is_dir()):
        raise ConfigError(f"--checkpoint: '{target}' cannot be written; name a file in a folder that exists")
    with shown_progress(is_stdout_reserved=as_json) as progress:
        import_newton(config, progress)
        from pippin.analysis.recorder import Recorder
        from pippin.analysis.run_folder import RunFolder

        folder = RunFolder.named_after(file) if out is None else RunFolder(out)
        recorder = Recorder(count, record_worlds)
        with start(progress, recorder) as simulation:
            if target is not None:
                _refuse_unsaved(simulation)
            first = simulation.step_count
            end = _advance(simulation, first + count, progress)
            summary = _summary(simulation, first, recorder, progress, end)
            if target is not None:
                _save(simulation, target, progress, end)
        with progress.phase("write"):
            is_drawn = _write(folder, simulation.config, recorder, summary)
            if trace is not None:
                folder.write_trace(trace)
        if not is_drawn:
            progress.note("no picture: matplotlib is not installed; install pippin[plot], or use `uv run --group plot`")
        if trace is not None:
            progress.note(str(trace))
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


def build(config: SimulationConfig, progress: Progress, *plugins: Any, trace: HookTrace | None = None) -> Simulation:
    """Return the simulation of a configuration; newton and warp are imported on the way."""
    with progress.phase("build"):
        return Simulation(config, plugins=plugins, trace=trace)


def import_newton(config: SimulationConfig, progress: Progress) -> None:
    """Import Newton and Warp, which takes seconds, and limit Warp's messages to warnings from here on."""
    with progress.phase("import"):
        import warp as wp

        wp.config.log_level = wp.LOG_WARNING
        import_hot_modules(requires_grad=config.simulation.requires_grad)


def prepare(simulation: Simulation, progress: Progress) -> None:
    """Compile the kernels of a step, take the first step, and capture.

    Raises:
        SimulationError: The step cannot be captured although it must, or it failed.
    """
    from pippin.step.compilation import compile_step

    with progress.phase("compile"):
        compile_step(simulation.program, lambda ready, count: progress.update(f"{ready} of {count}"))
    with progress.phase("capture"):
        simulation.step()
        simulation.check()


def _advance(simulation: Simulation, count: int, progress: Progress) -> SimulationError | KeyboardInterrupt | None:
    """Step to the end; return the exception that ended the run early, if any."""
    try:
        if not simulation.program.is_recorded:
            prepare(simulation, progress)
        with progress.phase("run"), _stopped_between_steps() as stop_if_asked:
            _step_on(simulation, count, progress, stop_if_asked)
    except (SimulationError, KeyboardInterrupt) as end:
        return end
    return None


@contextmanager
def _stopped_between_steps() -> Iterator[Callable[[], None]]:
    """Prevent Ctrl-C from ending a step halfway: the yielded function raises instead. A second Ctrl-C acts at once."""
    is_asked = False

    def ask(*_: Any) -> None:
        nonlocal is_asked
        is_asked = True
        signal.signal(signal.SIGINT, before)

    def stop_if_asked() -> None:
        if is_asked:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, ask) or signal.SIG_DFL
    try:
        yield stop_if_asked
    finally:
        signal.signal(signal.SIGINT, before)


def _step_on(simulation: Simulation, count: int, progress: Progress, stop_if_asked: Callable[[], None]) -> None:
    """Step and check the simulation, first after one step, then about four times a second."""
    from pippin.analysis.summary import throughput

    first, start = simulation.step_count, time.perf_counter()
    looked, stride = start, 1
    while simulation.step_count < count:
        stride = min(stride, count - simulation.step_count)
        simulation.step(stride)
        simulation.check()
        stop_if_asked()
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
    simulation: Simulation,
    first: int,
    recorder: Recorder,
    progress: Progress,
    end: SimulationError | KeyboardInterrupt | None,
) -> dict[str, Any]:
    from pippin.analysis.summary import throughput, what_ran

    steps = simulation.step_count - first
    measured = max(steps - ("capture" in progress.seconds), 0)
    return {
        "command": sys.argv,
        "worlds": simulation.world_count,
        "start_time": first * simulation.control_dt,
        "steps": steps,
        "simulated_time": steps * simulation.control_dt,
        **throughput(simulation, measured, progress.seconds.get("run", 0.0)),
        "captured": simulation.program.is_captured,
        "failure": "stopped" if isinstance(end, KeyboardInterrupt) else None if end is None else str(end),
        "seconds": progress.seconds,
        "recorded_worlds": recorder.worlds,
        **what_ran(simulation),
    }


def _refuse_unsaved(simulation: Simulation) -> None:
    """Raise at the start the error that saving would raise at the end.

    Raises:
        ConfigError: A component cannot be resumed from a file.
    """
    for name, reason in simulation.unsaved_reasons.items():
        raise ConfigError(f"--checkpoint: {name}: {reason}; leave the option out")


def _save(
    simulation: Simulation, target: Path, progress: Progress, end: SimulationError | KeyboardInterrupt | None
) -> None:
    """Write the checkpoint, except if the simulation failed: it must not replace an earlier checkpoint."""
    if isinstance(end, SimulationError):
        progress.note("no checkpoint: the simulation failed")
        return
    with progress.phase("save"):
        simulation.save(target)
    progress.note(f"checkpoint: {target}, at t = {simulation.time:.6g} s")


def _write(folder: RunFolder, config: SimulationConfig, recorder: Recorder, summary: dict[str, Any]) -> bool:
    """Fill the run folder; return whether it has a picture."""
    series = recorder.series()
    folder.write_config(config)
    folder.write_summary(summary)
    folder.write_series(series)
    return folder.write_picture(series)


def _report(summary: dict[str, Any], folder: RunFolder, progress: Progress) -> None:
    reasons = summary["program"]["eager_reasons"]
    for name, reason in reasons.items():
        progress.note(f"eager: {name}: {reason}")
    for name, texts in summary["notes"].items():
        for text in texts:
            progress.note(f"{name}: {text}")
    if summary["capacities"]:
        progress.note("room for " + ", ".join(f"{row['field']} = {row['allocated']}" for row in summary["capacities"]))
    steps = f"{summary['steps']} steps" if summary["steps"] != 1 else "1 step"
    progress.note(f"{summary['worlds']} worlds, {steps}, {summary['simulated_time']:.6g} s simulated")
    if summary["world_steps_per_second"] is not None:
        progress.note(f"{_speed(summary)}, {'captured' if summary['captured'] else 'not captured'}")
    progress.note(f"run folder: {folder.path}")
