"""A run of a file with viewers and a run folder, which `run` and `play` share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pippin.config.tree import key_text
from pippin.errors import ConfigError

from .progress import shown_progress


def run_file(
    file: Path,
    overrides: Sequence[str],
    *,
    viewers: tuple[str, ...],
    is_unseen: bool,
    video: Path | None,
    camera: str | None,
    as_json: bool,
    is_traced: bool = False,
    shown: Sequence[str] = (),
    **options: Any,
) -> None:
    """Simulate a file, write a run folder, and tell what happened; most arguments are those of `run_options`.

    Args:
        file: The configuration file.
        overrides: Values on top of it, as on the command line.
        viewers: Types of viewers to add.
        is_unseen: Whether viewers are left out.
        video: File of a video; None for none.
        camera: Body that the video follows; None for the first robot.
        as_json: Whether the last line is the result as JSON.
        is_traced: Whether the calls of hooks are listed.
        shown: Further keys of the summary in this line.
        **options: The other options.

    Raises:
        ConfigError: The file or an option is wrong.
        PluginError: A plugin cannot be loaded, or breaks its contract.
        SimulationError: The simulation failed; what it did until then is written.
        KeyboardInterrupt: Ctrl-C ended it; what it did until then is written.
    """
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            from pippin.components.tracing import HookTrace
            from pippin.config import load
            from pippin.runs.run import execute

            from .results import finish, report

            config = load(file, [*overrides, *_viewers(viewers, video, camera)])
            config = config.with_tables(viewers=None) if is_unseen else config
        trace = HookTrace() if is_traced else None
        result = execute(config, name=str(file), trace=trace, **options)
        if trace is not None:
            progress.note(str(trace))
        report(result, progress)
    finish(result, as_json=as_json, further=shown)


def _viewers(names: tuple[str, ...], video: Path | None, camera: str | None) -> Iterator[str]:
    if camera is not None and video is None:
        raise ConfigError(f"--camera: {camera!r} is given without --video; name the video too")
    for name in names:
        yield f"viewers.{key_text(name)}={{type={json.dumps(name)}}}"
    if video is not None:
        follow = "" if camera is None else f", follow={json.dumps(camera)}"
        yield f"viewers.video={{type='video', path={json.dumps(str(video.absolute()))}{follow}}}"
