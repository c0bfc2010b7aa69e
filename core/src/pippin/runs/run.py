"""`pippin.run`: the run of a configuration, from Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pippin.config import SimulationConfig, load
from pippin.devices import warp_quiet

from .decisions import import_newton, recorded_by_default, step_count
from .progress import current_progress
from .result import RunResult

__all__ = ["run"]


def run(
    config: str | os.PathLike[str] | SimulationConfig,
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    steps: int | None = None,
    duration: float | None = None,
    out: str | os.PathLike[str] | None = None,
    record_worlds: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
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

    Raises:
        ConfigError: The configuration or an argument is wrong, or the folder cannot be written.
        PluginError: A plugin cannot be loaded, breaks its contract, or failed in a step.
        SimulationError: The simulation failed. The run folder has what was recorded until then.
        KeyboardInterrupt: Ctrl-C ended the run between two steps, likewise.
    """
    progress, name = current_progress(), "run"
    if not isinstance(config, SimulationConfig):
        name, config = str(config), load(config, overrides)
    count = step_count(config, steps, duration)
    recorded_by_default(config, record_worlds)
    import_newton(config, progress)
    from .simulate import simulate
    from .start import build

    with warp_quiet():
        result = simulate(
            config,
            lambda config, folder, plugins: build(config, progress, folder, plugins),
            count,
            progress,
            name=name,
            out=None if out is None else Path(out),
            record_worlds=record_worlds,
            checkpoint=None if checkpoint is None else Path(checkpoint),
        )
    if result.end is not None:
        raise result.end
    return result
