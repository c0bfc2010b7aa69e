"""`pippin resume`: continue a simulation from a checkpoint, as if it had not been stopped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from pippin.config import SimulationConfig
from pippin.console import PATH, shown_progress
from pippin.console.options import simulation_options
from pippin.devices import leave_out_backward_kernels
from pippin.simulation import Simulation


@click.command()
@click.argument("saved", type=PATH, metavar="CHECKPOINT")
@click.option("--device", metavar="NAME", help="Device in place of the saved one: cpu, cuda:0 or auto.")
@simulation_options
def resume(
    saved: Path, device: str | None, steps: int | None, duration: float | None, as_json: bool, **options: Any
) -> None:
    """Continue from CHECKPOINT, which `pippin run` or `Simulation.save` wrote.

    Steps and duration count from the checkpoint. The checkpoint contains the configuration, of which only the device
    can be changed; a device of another kind gives other bits. Pippin, Newton and Warp must have the same
    versions as when it was written. The run folder is as with `pippin run`.
    """
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            leave_out_backward_kernels()
            from pippin.console.results import finish, report
            from pippin.runs.decisions import recorded_by_default
            from pippin.state.checkpoint import Checkpoint
            from pippin.studies import import_newton, step_count

            config = Checkpoint.read(saved).configuration(device)
            count = step_count(config, steps, duration)
            recorded_by_default(config, options["record_worlds"])
        import_newton(config, progress)
        from pippin.runs.simulate import simulate

        def start(config: SimulationConfig, folder: Path, plugins: Mapping[str, Any]) -> Simulation:
            with progress.phase("load"):
                return Simulation.load(saved, plugins, folder=folder, device=device)

        result = simulate(config, start, count, progress, name=str(saved), may_grow=False, **options)
        report(result, progress)
    finish(result, as_json=as_json)
