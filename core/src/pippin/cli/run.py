"""`pippin run`: simulate a configuration file, and write a run folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._options import PATH, overrides, simulation_options
from ._progress import shown_progress

if TYPE_CHECKING:
    from pippin.config import SimulationConfig
    from pippin.simulation import Simulation


@click.command()
@click.argument("file", type=PATH)
@overrides()
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
    as_json: bool,
    **options: Any,
) -> None:
    """Simulate the configuration in FILE.

    The run folder, by default runs/NAME-DATE-TIME, contains the resolved configuration (config.toml), a summary
    (summary.json), the time series (series.npz) and a page about all of it, for any browser (report.html).

    World-steps per second are physics steps of all worlds together: worlds × control steps × decimation ÷ wall time,
    from the second control step on. The first step runs eagerly and is then captured; it is not measured.

    --trace-hooks prints a table at the end, and writes the single calls into the run folder (hooks.csv). Its times are
    those of the host.
    """
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            from pippin.components.tracing import HookTrace
            from pippin.config import load

            from ._simulate import build, finish, simulate, step_count

            config = load(file, overrides)
            count = step_count(config, steps, duration)
        trace = HookTrace() if is_traced else None

        def start(config: SimulationConfig) -> Callable[..., Simulation]:
            return partial(build, config, trace=trace)

        results, end = simulate(file, config, start(config), count, progress, trace=trace, restart=start, **options)
    finish(results, end, as_json=as_json)
