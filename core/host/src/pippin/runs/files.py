"""Files of a run: its configuration, its summary, a page about both and the recordings, and a trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig, dump_toml
from pippin.recording.series import Series
from pippin.studies import RunFolder

from .reading import Run
from .report.run_page import run_page


def write_run(
    folder: RunFolder,
    file: str,
    config: SimulationConfig,
    summary: Mapping[str, Any],
    trace: HookTrace | None = None,
) -> None:
    """Add configuration, summary, page and a trace of the hook calls, if there is one, to the recordings of a run."""
    folder.write_config(config)
    folder.write_summary(summary)
    if trace is not None:
        with folder.written("hooks.csv") as path:
            trace.write(path)
    folder.write_text("report.html", _page(folder, file, config, summary, trace))


def _page(
    folder: RunFolder, file: str, config: SimulationConfig, summary: Mapping[str, Any], trace: HookTrace | None
) -> str:
    """Return the page of a run, with the first recording and the videos that are in the folder."""
    with Run(folder.path) as run:
        recording = next(iter(run.recordings.values()), None)
        series = {"time": Series(values=np.zeros(0), units=("s",)), **(recording or {})}
        if recording is not None:
            series["time"] = recording["time"]
        worlds = None if recording is None else recording.worlds
        return run_page(file, summary, series, dump_toml(config), folder=folder.path, trace=trace, worlds=worlds)
