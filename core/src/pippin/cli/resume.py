"""`pippin resume`: continue a simulation from a checkpoint, as if it had not been stopped."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pippin.config import structure
from pippin.devices import leave_out_backward_kernels

from .run import PATH, simulate, simulation_options, step_count

if TYPE_CHECKING:
    from pippin.simulation import Simulation

    from ._progress import Progress


@click.command()
@click.argument("checkpoint", type=PATH)
@simulation_options
def resume(checkpoint: Path, steps: int | None, duration: float | None, **options: Any) -> None:
    """Continue from CHECKPOINT, which `pippin run` or `Simulation.save` wrote.

    Steps and duration count from the checkpoint. The checkpoint contains the configuration, which cannot be changed.
    Pippin, Newton and Warp must have the same versions as when it was written. The run folder is as with `pippin run`.
    """
    leave_out_backward_kernels()
    from pippin.state.checkpoint import Checkpoint

    config = structure(tomllib.loads(Checkpoint.read(checkpoint).config))

    def start(progress: Progress, *plugins: Any) -> Simulation:
        with progress.phase("load"):
            from pippin.simulation import Simulation

            return Simulation.load(checkpoint, plugins)

    simulate(checkpoint, config, start, step_count(config, steps, duration), **options)
