"""Steps that several commands share: read, import, build, compile, run and write."""

from __future__ import annotations

import atexit
import gc
import json
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig
from pippin.devices import no_garbage_collection
from pippin.errors import BufferOverflowError, ConfigError, PluginError, SimulationError
from pippin.simulation import Simulation, import_hot_modules

from ._interrupt import stopped_between_steps
from ._options import DEFAULT_DURATION
from ._progress import Progress

if TYPE_CHECKING:
    from pippin.analysis.run_folder import RunFolder
    from pippin.recording.npz import NpzRecorder

__all__ = ["build", "finish", "import_newton", "prepare", "simulate", "step_count"]

End: TypeAlias = "SimulationError | PluginError | KeyboardInterrupt"
"""What ends a run early: the results so far are written all the same."""

_LOOK_PERIOD = 0.25
"""Time between two checks of the simulation [s]: each waits for the device, and redraws the line."""

_RESTARTS_MAX = 5
"""Starts with larger buffers after which an overflow ends the run: each doubles a buffer at least."""

_RESULTS = ("worlds", "steps", "simulated_time", "world_steps_per_second", "real_time_factor", "captured", "failure")
"""Keys of the summary that `--json` prints, besides the run folder."""


def simulate(
    file: Path,
    config: SimulationConfig,
    start: Callable[..., Simulation],
    count: int,
    progress: Progress,
    *,
    out: Path | None,
    record_worlds: int | None,
    target: Path | None,
    trace: HookTrace | None = None,
    restart: Callable[[SimulationConfig], Callable[..., Simulation]] | None = None,
) -> tuple[dict[str, Any], End | None]:
    """Simulate, write a run folder, and return the results with the exception that ended the run early, if any.

    Args:
        file: The simulated file, which gives the folder its name.
        config: Its configuration.
        start: Returns the simulation, given the progress, the folder of its files, and more plugins by label.
        count: Control steps to simulate.
        progress: The progress of the command.
        out: The run folder; by default a new one.
        record_worlds: Number of worlds that the default recorder records; None for the usual number.
        target: The checkpoint to write, if any.
        trace: Trace that records the hook calls of the simulation, if any.
        restart: Returns `start` for another configuration. With it, a run whose buffers overflowed starts again with
            larger ones, if the configuration leaves their sizes to the host.

    Raises:
        ConfigError: The folder or the checkpoint cannot be written.
    """
    if target is not None and (target.is_dir() or not target.parent.is_dir()):
        raise ConfigError(f"--checkpoint: '{target}' cannot be written; name a file in a folder that exists")
    _refuse_two_choices(config, record_worlds)
    import_newton(config, progress)
    from pippin.analysis.growth import grown
    from pippin.analysis.run_folder import RunFolder

    folder = RunFolder.named_after(file) if out is None else RunFolder(out)
    asked, restarts = config, list[str]()
    while True:
        with start(progress, folder.path, _default_recorder(config, record_worlds)) as simulation:
            if target is not None:
                _refuse_unsaved(simulation)
            first, notes = simulation.step_count, list(restarts)
            end = _advance(simulation, first + count, progress, notes)
            sizes = _larger(simulation, asked, end) if len(restarts) < _RESTARTS_MAX else None
            is_last = restart is None or sizes is None
            if is_last and target is not None:
                _save(simulation, target, progress, end)
        if is_last:
            break
        assert restart is not None
        assert sizes is not None
        restarts.append(_restarted(simulation, sizes))
        progress.note(restarts[-1])
        config = grown(config, sizes)
        start = restart(config)
    summary = _summary(simulation, first, progress, end, notes)
    with progress.phase("write"):
        _write(folder, file, simulation.config, summary, trace)
    if trace is not None:
        progress.note(str(trace))
    _report(summary, folder, progress)
    return {name: summary[name] for name in _RESULTS} | {"run_folder": str(folder.path)}, end


def finish(results: dict[str, Any], end: End | None, *, as_json: bool) -> None:
    """Print the results as a line of JSON if asked, and raise the exception that ended the run early, if any."""
    if as_json:
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


def build(
    config: SimulationConfig,
    progress: Progress,
    folder: Path | None = None,
    plugins: Mapping[str, Any] | None = None,
    trace: HookTrace | None = None,
) -> Simulation:
    """Return the simulation of a configuration; newton and warp are imported on the way."""
    with progress.phase("build"):
        return Simulation(config, plugins=plugins or {}, trace=trace, folder=folder)


def _refuse_two_choices(config: SimulationConfig, record_worlds: int | None) -> None:
    """Refuse a number of worlds for the default recorder if there is none.

    Raises:
        ConfigError: The file has recorders of its own.
    """
    if config.recorders and record_worlds is not None:
        label = next(iter(config.recorders))
        raise ConfigError(f"--record-worlds: the file has recorders of its own; set recorders.{label}.worlds instead")


def _default_recorder(config: SimulationConfig, record_worlds: int | None) -> dict[str, NpzRecorder]:
    """Return the recorder of a run whose file has none, by its label: of `series.npz`, for the first worlds."""
    from pippin.recording.npz import NpzRecorder

    count = min(1 if record_worlds is None else record_worlds, config.scene.worlds)
    if config.recorders or not count:
        return {}
    return {"series": NpzRecorder(NpzRecorder.Config(worlds=f"0:{count}"))}


def import_newton(config: SimulationConfig, progress: Progress) -> None:
    """Import Newton and Warp, which takes seconds, and limit Warp's messages to warnings from here on."""
    with progress.phase("import"), no_garbage_collection():
        import warp as wp

        wp.config.log_level = wp.LOG_WARNING
        import_hot_modules(requires_grad=config.simulation.requires_grad)
    # The collector need not walk what was imported, neither during the run nor, for two seconds, at the very end.
    gc.freeze()
    atexit.register(gc.freeze)


def prepare(simulation: Simulation, progress: Progress, notes: list[str] | None = None) -> None:
    """Compile the kernels of a step, add the notes on the start to `notes`, take the first step, and capture.

    Raises:
        SimulationError: The step cannot be captured although it must, or it failed.
    """
    from pippin.analysis.notes import start_notes
    from pippin.step.compilation import compile_step

    with progress.phase("compile"):
        compile_step(simulation.program, lambda ready, count: progress.update(f"{ready} of {count}"))
        if notes is not None:
            notes += start_notes(simulation)
    with progress.phase("capture"):
        simulation.step()
        simulation.check()


def _advance(simulation: Simulation, count: int, progress: Progress, notes: list[str]) -> End | None:
    """Step to the end, and add the notes on the start; return the exception that ended the run early, if any."""
    try:
        if not simulation.program.is_recorded:
            prepare(simulation, progress, notes)
        with progress.phase("run"), stopped_between_steps(simulation) as stop_if_asked:
            _step_on(simulation, count, progress, stop_if_asked)
    except (SimulationError, PluginError, KeyboardInterrupt) as end:
        return end
    return None


def _larger(simulation: Simulation, asked: SimulationConfig, end: End | None) -> dict[str, int] | None:
    """Return larger sizes for the buffers that ended a run, by key; None if they cannot continue it."""
    from pippin.analysis.growth import sizes_for

    if not isinstance(end, BufferOverflowError):
        return None
    return sizes_for(asked, simulation.capacities, end)


def _restarted(simulation: Simulation, sizes: dict[str, int]) -> str:
    keys = ", ".join(f"{field} = {size}" for field, size in sizes.items())
    return (
        f"buffers were full by t = {simulation.time:.6g} s, so the run started again with larger ones;"
        f" write {keys} into the file to start so"
    )


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
        stride = max(1, min(2 * stride, int(stride * _LOOK_PERIOD / (now - looked))))
        looked = now
        done = simulation.step_count - first
        left = (now - start) * (count - simulation.step_count) / done
        busy = now - start - simulation.seconds_waited
        progress.update(_line(simulation, throughput(simulation, done, busy), left))


def _line(simulation: Simulation, speed: dict[str, float | None], left: float) -> str:
    return f"t = {simulation.time:.2f} s, {_speed(speed)}, {timedelta(seconds=round(left))} to go"


def _speed(speed: dict[str, Any]) -> str:
    return f"{speed['world_steps_per_second']:,.0f} world-steps/s, {speed['real_time_factor']:.3g} × real time"


def _summary(
    simulation: Simulation,
    first: int,
    progress: Progress,
    end: End | None,
    notes: Sequence[str],
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
        **throughput(simulation, measured, progress.seconds.get("run", 0.0) - simulation.seconds_waited),
        "captured": simulation.program.is_captured,
        "failure": "stopped" if isinstance(end, KeyboardInterrupt) else None if end is None else str(end),
        "seconds": progress.seconds,
        "recordings": _recordings(simulation),
        **what_ran(simulation, notes),
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


def _refuse_unsaved(simulation: Simulation) -> None:
    """Raise at the start the error that saving would raise at the end.

    Raises:
        ConfigError: A component cannot be resumed from a file.
    """
    for name, reason in simulation.unsaved_reasons.items():
        raise ConfigError(f"--checkpoint: {name}: {reason}; leave the option out")


def _save(simulation: Simulation, target: Path, progress: Progress, end: End | None) -> None:
    """Write the checkpoint, except if the simulation failed: it must not replace an earlier checkpoint."""
    if isinstance(end, SimulationError | PluginError):
        progress.note("no checkpoint: the simulation failed")
        return
    with progress.phase("save"):
        simulation.save(target)
    progress.note(f"checkpoint: {target}, at t = {simulation.time:.6g} s")


def _write(
    folder: RunFolder, file: Path, config: SimulationConfig, summary: dict[str, Any], trace: HookTrace | None
) -> None:
    """Add configuration, summary and report to the files of recorders and viewers in the run folder."""
    folder.write_config(config)
    folder.write_summary(summary)
    if trace is not None:
        folder.write_trace(trace)
    folder.write_report(file, config, summary, trace)


def _report(summary: dict[str, Any], folder: RunFolder, progress: Progress) -> None:
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
