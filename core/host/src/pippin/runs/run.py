"""`pippin.run`: the run of a configuration, from Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig, load
from pippin.files import refuse_taken
from pippin.simulation import Simulation
from pippin.studies import current_progress, import_newton, step_count

from .decisions import recorded_by_default
from .result import RunResult


def run(
    config: str | os.PathLike[str] | SimulationConfig,
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    steps: int | None = None,
    duration: float | None = None,
    out: str | os.PathLike[str] | None = None,
    record_worlds: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    processes: int | Literal["auto"] = 1,
) -> RunResult:
    """Simulate a configuration, write a run folder, and return the result; as the command `pippin run` does.

    If buffers overflow whose sizes the configuration leaves out, the run starts again with larger ones.

    Args:
        config: A configuration file, or the configuration.
        overrides: Values on top of a file, as for `load`.
        steps: Control steps to simulate.
        duration: Time to simulate [s], in place of `steps`; by default 5 s.
        out: The run folder, new or empty; by default `runs/NAME-DATE-TIME`.
        record_worlds: Number of worlds to record if the configuration has no recorders, by default 1.
        checkpoint: A file to write at the end, for `Simulation.load`.
        processes: Number of processes that share the worlds; "auto" means as many as there are cores or GPUs.

    Raises:
        ConfigError: The configuration or an argument is wrong, or the folder cannot be written.
        PluginError: A plugin cannot be loaded, breaks its contract, or failed in a step.
        SimulationError: The simulation failed. The run folder has what was recorded until then.
        KeyboardInterrupt: Ctrl-C ended the run between two steps, likewise.
    """
    name = "run"
    if not isinstance(config, SimulationConfig):
        name, config = str(config), load(config, overrides)
    result = execute(
        config,
        name=name,
        steps=steps,
        duration=duration,
        out=None if out is None else Path(out),
        record_worlds=record_worlds,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        processes=processes,
    )
    if result.end is not None:
        raise result.end
    return result


def execute(
    config: SimulationConfig,
    *,
    name: str,
    steps: int | None,
    duration: float | None,
    out: Path | None,
    record_worlds: int | None,
    checkpoint: Path | None = None,
    processes: int | str = 1,
    trace: HookTrace | None = None,
) -> RunResult:
    """Simulate as `run` does, and return the result also if it ended early; a trace, if any, records hook calls."""
    progress = current_progress()
    count = step_count(config, steps, duration)
    recorded_by_default(config, record_worlds)
    if out is not None:
        refuse_taken(out, "out")
    files: Any = {"name": name, "out": out, "record_worlds": record_worlds}
    if str(processes) != "1":
        from .sharded_run import process_count, refuse_with_processes, simulate_in_processes

        refuse_with_processes(config, {"trace_hooks": trace is not None, "checkpoint": checkpoint is not None})
        process_total = process_count(str(processes), config)
        if process_total > 1:
            return simulate_in_processes(config, process_total, count, progress, **files)
    import_newton(config, progress)
    from .loop import build
    from .simulate import simulate

    def start(config: SimulationConfig, folder: Path, plugins: Mapping[str, Any]) -> Simulation:
        return build(config, progress, folder, plugins, trace)

    return simulate(config, start, count, progress, checkpoint=checkpoint, trace=trace, **files)
