"""A run in this process: simulate, start again with larger buffers if need be, and write the run folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig
from pippin.errors import ConfigError, PluginError, SimulationError
from pippin.recording import Recorder
from pippin.recording.npz.config import NpzConfig
from pippin.recording.npz.file import NpzRecorder
from pippin.simulation import Simulation
from pippin.studies import RunFolder, RunProgress
from pippin.studies.summary import what_ran

from .decisions import recorded_by_default
from .growth import Growth, sizes_for
from .loop import RunLoop
from .report.run_page import write_run
from .result import RunResult, result_of, summary_of

Start: TypeAlias = Callable[[SimulationConfig, Path, Mapping[str, NpzRecorder]], Simulation]
"""Returns the simulation of a configuration, given the folder of its files and the default recorder by its label."""


def simulate(
    config: SimulationConfig,
    start: Start,
    count: int,
    progress: RunProgress,
    *,
    name: str,
    out: Path | None = None,
    record_worlds: int | None = None,
    checkpoint: Path | None = None,
    trace: HookTrace | None = None,
    may_grow: bool = True,
) -> RunResult:
    """Simulate, write a run folder, and return the result, also if the run ended early.

    `start` returns the simulation, and `name` is the simulated file. By default the run folder is a new one with its
    name, the default recorder records the usual number of worlds, and no checkpoint and no hook calls are written. With
    `may_grow`, a run whose buffers overflowed starts again with larger ones, if the file leaves their sizes open.

    Raises:
        ConfigError: The folder or the checkpoint cannot be written.
    """
    if checkpoint is not None and (checkpoint.is_dir() or not checkpoint.parent.is_dir()):
        raise ConfigError(f"checkpoint: '{checkpoint}' cannot be written; name a file in a folder that exists")
    recorded = recorded_by_default(config, record_worlds)
    folder = RunFolder.chosen(out, name)

    def build(config: SimulationConfig) -> Simulation:
        plugins = {"series": NpzRecorder(NpzConfig(worlds=f"0:{recorded}"))} if recorded else {}
        return start(config, folder.path, plugins)

    def take(loop: RunLoop) -> None:
        folder.write_config(loop.simulation.config)  # so that a run that is killed can be viewed
        if checkpoint is not None:  # what saving would raise at the end
            for owner, reason in loop.simulation.unsaved_reasons.items():
                raise ConfigError(f"checkpoint: {owner}: {reason}; leave the option out")
        loop.begin()
        with progress.phase("run"):
            loop.step_to(loop.first_step + count)

    def save(loop: RunLoop) -> None:
        if checkpoint is None:
            return
        if isinstance(loop.end, SimulationError | PluginError):  # it must not replace an earlier checkpoint
            progress.note("no checkpoint: the simulation failed")
            return
        try:
            with progress.phase("save"):
                loop.simulation.save(checkpoint)
        except SimulationError as error:  # such as a full disk: what was recorded is on another one
            loop.end = loop.end or error
            return
        progress.note(f"checkpoint: {checkpoint}, at t = {loop.simulation.time:.6g} s")

    loop = stepped(config, build, take, progress, finish=save, may_grow=may_grow)
    loop.end = loop.end or _lost(loop.simulation)
    facts, config = facts_of(loop), loop.simulation.config
    facts["measured_seconds"] = progress.seconds.get("run", 0.0) - loop.simulation.seconds_waited  # wall time
    with progress.phase("write"):
        summary = summary_of(facts, config, progress.seconds, loop.end)
        write_run(folder, name, config, summary, trace)
    return result_of(summary, folder.path, loop.end)


def stepped(
    config: SimulationConfig,
    build: Callable[[SimulationConfig], Simulation],
    take: Callable[[RunLoop], None],
    progress: RunProgress,
    *,
    finish: Callable[[RunLoop], None] = lambda loop: None,
    may_grow: bool = True,
) -> RunLoop:
    """Build and step a simulation, again with larger buffers if they were full, and return the loop of the last start.

    The simulation is closed then: its recordings are complete. `take` takes the steps, and `RunLoop.end` keeps what
    ends them early. `finish` is called at the end of the last start, before the simulation is closed.
    """
    growth = Growth(config)
    while True:
        with build(growth.config) as simulation:
            loop = RunLoop(simulation, progress, growth.notes)
            loop.run(take)
            sizes = sizes_for(growth.original, simulation.capacities, loop.end)
            if sizes is None or growth.is_exhausted or not may_grow:
                finish(loop)
                break
        growth.grow(sizes, simulation.time)
        progress.note(growth.notes[-1])
    return loop


def _lost(simulation: Simulation) -> SimulationError | None:
    """Return the fault of a run all of whose recorders had no room for a row; None if there is something."""
    recorders = [each for each in (*simulation.recorders.values(), *simulation.plugins.values()) if _is_lost(each)]
    others = [each for each in simulation.recorders.values() if not _is_lost(each)]
    if others or not recorders:
        return None
    return SimulationError(f"nothing was recorded: {'; '.join(note for each in recorders for note in each.notes)}")


def _is_lost(recorder: Any) -> bool:
    return isinstance(recorder, Recorder) and recorder.is_incomplete and not recorder.row_count


def facts_of(loop: RunLoop) -> dict[str, Any]:
    """Return what a simulation did and what did it, for `summary_of`, after it was closed."""
    simulation = loop.simulation
    recorders = {**simulation.recorders, **simulation.plugins}
    return {
        "worlds": simulation.world_count,
        "first_step": loop.first_step,
        "steps": simulation.step_count - loop.first_step,
        "measured_steps": loop.steps,
        "measured_seconds": loop.seconds,
        "recordings": {
            label: {"file": str(each.path), "worlds": each.worlds.tolist(), "rows": each.row_count}
            for label, each in recorders.items()
            if isinstance(each, Recorder)
        },
        "task": loop.score,
        **what_ran(simulation, loop.notes),
    }
