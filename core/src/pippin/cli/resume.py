"""`pippin resume`: continue a simulation from a checkpoint, as if it had not been stopped."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from pippin.config import structure
from pippin.devices import leave_out_backward_kernels
from pippin.simulation import Simulation

from ._options import PATH, simulation_options
from ._progress import Progress, shown_progress


@click.command()
@click.argument("checkpoint", type=PATH)
@simulation_options
def resume(checkpoint: Path, steps: int | None, duration: float | None, as_json: bool, **options: Any) -> None:
    """Continue from CHECKPOINT, which `pippin run` or `Simulation.save` wrote.

    Steps and duration count from the checkpoint. The checkpoint contains the configuration, which cannot be changed.
    Pippin, Newton and Warp must have the same versions as when it was written. The run folder is as with `pippin run`.
    """
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            leave_out_backward_kernels()
            from pippin.state.checkpoint import Checkpoint

            from ._results import finish
            from ._simulate import simulate, step_count

            config = structure(tomllib.loads(Checkpoint.read(checkpoint).config))
            count = step_count(config, steps, duration)

        def start(progress: Progress, folder: Path, plugins: Mapping[str, Any]) -> Simulation:
            with progress.phase("load"):
                return Simulation.load(checkpoint, plugins, folder=folder)

        results, end = simulate(checkpoint, config, start, count, progress, **options)
    finish(results, end, as_json=as_json)
