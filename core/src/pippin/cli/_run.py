"""A run of a file with viewers and a run folder, which `run` and `play` share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from pippin.config.tree import key_text
from pippin.errors import ConfigError

from ._progress import shown_progress

if TYPE_CHECKING:
    from pippin.config import SimulationConfig
    from pippin.simulation import Simulation

__all__ = ["run_file"]


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
    processes: str | None = None,
    checkpoint: Path | None = None,
    **options: Any,
) -> None:
    """Simulate a file and write a run folder; arguments are those of the command."""
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            from pippin.components.tracing import HookTrace
            from pippin.config import load
            from pippin.runs.decisions import import_newton, recorded_by_default, step_count

            from ._results import finish, report

            config = load(file, [*overrides, *_viewers(viewers, video, camera)])
            config = attrs.evolve(config, viewers={}) if is_unseen else config
            count = step_count(config, steps, duration)
            recorded_by_default(config, options["record_worlds"])
            shards = _shards(processes, config, **{"--trace-hooks": is_traced, "--checkpoint": bool(checkpoint)})
        trace = HookTrace() if is_traced else None

        if shards > 1:
            from pippin.runs.sharded_run import simulate_in_processes

            result = simulate_in_processes(config, shards, count, progress, name=str(file), **options)
        else:
            import_newton(config, progress)
            from pippin.runs.simulate import simulate
            from pippin.runs.start import build

            def start(config: SimulationConfig, folder: Path, plugins: Mapping[str, Any]) -> Simulation:
                return build(config, progress, folder, plugins, trace)

            result = simulate(
                config,
                start,
                count,
                progress,
                name=str(file),
                checkpoint=checkpoint,
                trace=trace,
                **options,
            )
        if trace is not None:
            progress.note(str(trace))
        report(result, progress)
    finish(result, as_json=as_json)


def _shards(processes: str | None, config: SimulationConfig, **given: bool) -> int:
    """Return the number of processes that `--processes` asks for.

    Raises:
        ConfigError: It is wrong, or another option is given that is of one process.
    """
    if processes is None:
        return 1
    from pippin.runs.sharded_run import process_count, refuse_with_processes

    if processes != "1":
        refuse_with_processes(config, given)
    return process_count(processes, config)


def _viewers(names: tuple[str, ...], video: Path | None, camera: str | None) -> Iterator[str]:
    """Yield the tables of viewers that the command line adds.

    Raises:
        ConfigError: A camera is given without a video.
    """
    if camera is not None and video is None:
        raise ConfigError(f"--camera: {camera!r} is given without --video; name the video too")
    for name in names:
        yield f"viewers.{key_text(name)}={{type={json.dumps(name)}}}"
    if video is not None:
        follow = "" if camera is None else f", follow={json.dumps(camera)}"
        yield f"viewers.video={{type='video', path={json.dumps(str(video.absolute()))}{follow}}}"
