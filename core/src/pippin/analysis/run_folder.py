"""Run folders: the configuration, a summary, the recorded series of a run, and a page about all of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig, dump_toml
from pippin.errors import ConfigError
from pippin.recording.reading import open_run
from pippin.recording.series import Series

from .report.comparison_page import comparison_page
from .report.run_page import run_page

if TYPE_CHECKING:
    from .compare import SolverRun

__all__ = ["RunFolder"]


class RunFolder:
    """A folder for the files of one run, created when the first file is written.

    Args:
        path: The folder.

    Raises:
        ConfigError: `path` is a file, or a folder that is not empty.
    """

    def __init__(self, path: Path) -> None:
        #: The folder.
        self.path = path
        if path.exists() and not path.is_dir():
            raise ConfigError(f"--out: '{path}' is a file; choose another folder")
        if path.is_dir() and any(path.iterdir()):
            raise ConfigError(f"--out: '{path}' is not empty; choose another folder, or empty this one")

    @classmethod
    def named_after(cls, file: Path, parent: Path = Path("runs")) -> RunFolder:
        """Return a folder named after a configuration file, the date and the time, which does not exist yet."""
        name = f"{file.stem}-{datetime.now():%Y%m%d-%H%M%S}"
        path, copies = parent / name, 1
        while path.exists():
            copies += 1
            path = parent / f"{name}-{copies}"
        return cls(path)

    def write_config(self, config: SimulationConfig) -> None:
        """Write `config.toml`: every value of the run. `pippin run` repeats the run from this file."""
        self._file("config.toml").write_text(dump_toml(config), encoding="utf-8")

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write `summary.json`."""
        self.write_json("summary.json", summary)

    def write_json(self, name: str, data: Mapping[str, Any]) -> None:
        """Write plain data as JSON into a file with the given name."""
        text = json.dumps(data, indent=2, ensure_ascii=False)
        self._file(name).write_text(f"{text}\n", encoding="utf-8")

    def write_trace(self, trace: HookTrace) -> None:
        """Write `hooks.csv`: every hook call."""
        trace.write(self._file("hooks.csv"))

    def write_series(self, series: Mapping[str, Series]) -> None:
        """Write `series.npz`: each series by name, with `labels/<name>` and `units/<name>` if it has them."""
        arrays: dict[str, Any] = {name: one.values for name, one in series.items()}
        for name, one in series.items():
            notes = {"labels": one.labels, "units": one.units}
            arrays |= {f"{kind}/{name}": np.array(texts) for kind, texts in notes.items() if texts}
        np.savez(self._file("series.npz"), **arrays)

    def write_report(
        self, file: Path, config: SimulationConfig, summary: Mapping[str, Any], trace: HookTrace | None = None
    ) -> None:
        """Write `report.html`: the page of the run, with the first recording and the films that are in the folder."""
        self.path.mkdir(parents=True, exist_ok=True)
        with open_run(self.path) as run:
            recording = next(iter(run.recordings.values()), None)
            series = {"time": Series(values=np.zeros(0), units=("s",)), **(recording or {})}
            if recording is not None:
                series["time"] = recording["time"]
            worlds = None if recording is None else recording.worlds
            text = run_page(str(file), summary, series, dump_toml(config), folder=self.path, trace=trace, worlds=worlds)
        self._file("report.html").write_text(text, encoding="utf-8")

    def write_comparison(
        self,
        results: Sequence[SolverRun],
        summary: Mapping[str, Any],
        columns: Mapping[str, str],
        cell: Callable[[str, Any], str],
    ) -> None:
        """Write `comparison.html`: the page of a comparison, with these columns, each figure as `cell` writes it."""
        text = comparison_page(results, summary, columns, cell)
        self._file("comparison.html").write_text(text, encoding="utf-8")

    def _file(self, name: str) -> Path:
        self.path.mkdir(parents=True, exist_ok=True)
        return self.path / name
