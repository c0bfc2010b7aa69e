"""Steps that several commands share: read, import, build, compile, run and write."""

from __future__ import annotations

import atexit
import gc
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig
from pippin.devices import no_garbage_collection
from pippin.errors import BufferOverflowError, ConfigError, PluginError, SimulationError
from pippin.simulation import Simulation, import_hot_modules

from ._interrupt import stopped_between_steps
from ._options import DEFAULT_DURATION
from ._progress import Progress
from ._results import End, line, ran, report, summary_of, write

if TYPE_CHECKING:
    from pippin.recording.npz import NpzRecorder

__all__ = [
    "LOOK_PERIOD",
    "RESTARTS_MAX",
    "build",
    "import_newton",
    "larger",
    "prepare",
    "recorded_by_default",
    "refuse_two_choices",
    "restarted",
    "simulate",
    "step_count",
]

LOOK_PERIOD = 0.25
"""Time between two checks of the simulation [s]: each waits for the device, and redraws the line."""

RESTARTS_MAX = 5
"""Starts with larger buffers after which an overflow ends the run: each doubles a buffer at least."""


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
    refuse_two_choices(config, record_worlds)
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
            sizes = larger(simulation, asked, end) if len(restarts) < RESTARTS_MAX else None
            is_last = restart is None or sizes is None
            if is_last and target is not None:
                _save(simulation, target, progress, end)
        if is_last:
            break
        assert restart is not None
        assert sizes is not None
        restarts.append(restarted(simulation.time, sizes))
        progress.note(restarts[-1])
        config = grown(config, sizes)
        start = restart(config)
    summary = summary_of(ran(simulation, first, notes), simulation.config, progress, end)
    with progress.phase("write"):
        write(folder, file, simulation.config, summary, trace)
    if trace is not None:
        progress.note(str(trace))
    return report(summary, folder, progress), end


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


def refuse_two_choices(config: SimulationConfig, record_worlds: int | None) -> None:
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

    count = recorded_by_default(config, record_worlds)
    return {"series": NpzRecorder(NpzRecorder.Config(worlds=f"0:{count}"))} if count else {}


def recorded_by_default(config: SimulationConfig, record_worlds: int | None) -> int:
    """Return how many worlds the default recorder records; 0 if the file has recorders of its own."""
    if config.recorders:
        return 0
    return min(1 if record_worlds is None else record_worlds, config.scene.worlds)


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


def larger(simulation: Simulation, asked: SimulationConfig, end: End | None) -> dict[str, int] | None:
    """Return larger sizes for the buffers that ended a run, by key; None if they cannot continue it."""
    from pippin.analysis.growth import sizes_for

    if not isinstance(end, BufferOverflowError):
        return None
    return sizes_for(asked, simulation.capacities, end)


def restarted(time: float, sizes: Mapping[str, int]) -> str:
    """Return the note on a start with larger buffers, after they were full by a time [s]."""
    keys = ", ".join(f"{field} = {size}" for field, size in sizes.items())
    return (
        f"buffers were full by t = {time:.6g} s, so the run started again with larger ones;"
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
        stride = max(1, min(2 * stride, int(stride * LOOK_PERIOD / (now - looked))))
        looked = now
        done = simulation.step_count - first
        left = (now - start) * (count - simulation.step_count) / done
        busy = now - start - simulation.seconds_waited
        progress.update(line(simulation.time, throughput(simulation, done, busy), left))


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
