"""`pippin run`: simulate a configuration file, and write a run folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
from pippin.config.tree import key_text
from pippin.errors import ConfigError

from ._options import PATH, overrides, simulation_options, viewer_options
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
@viewer_options
@simulation_options
def run(
    file: Path,
    overrides: tuple[str, ...],
    is_traced: bool,
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
    run_file(file, overrides, is_traced=is_traced, **options)


def run_file(
    file: Path,
    overrides: Sequence[str],
    *,
    viewers: tuple[str, ...],
    is_unseen: bool,
    video: Path | None,
    camera: str | None,
    steps: int | None,
    duration: float | None,
    as_json: bool,
    is_traced: bool = False,
    **options: Any,
) -> None:
    """Simulate a file and write a run folder; arguments are those of the command."""
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            from pippin.components.tracing import HookTrace
            from pippin.config import load

            from ._simulate import build, finish, simulate, step_count

            config = load(file, [*overrides, *_viewers(viewers, video, camera)])
            config = attrs.evolve(config, viewers={}) if is_unseen else config
            count = step_count(config, steps, duration)
        trace = HookTrace() if is_traced else None

        def start(config: SimulationConfig) -> Callable[..., Simulation]:
            return partial(build, config, trace=trace)

        results, end = simulate(file, config, start(config), count, progress, trace=trace, restart=start, **options)
    finish(results, end, as_json=as_json)


def _viewers(names: tuple[str, ...], video: Path | None, camera: str | None) -> Iterator[str]:
    """Yield the tables of viewers that the command line adds.

    Raises:
        ConfigError: A camera is given without a film.
    """
    if camera is not None and video is None:
        raise ConfigError(f"--camera: {camera!r} is given without --video; name the film too")
    for name in names:
        yield f"viewers.{key_text(name)}={{type={json.dumps(name)}}}"
    if video is not None:
        follow = "" if camera is None else f", follow={json.dumps(camera)}"
        yield f"viewers.video={{type='video', path={json.dumps(str(video.absolute()))}{follow}}}"
