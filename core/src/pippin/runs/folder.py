"""Run folders: the configuration, a summary, the recorded series of a run, and a page about all of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig, dump_toml
from pippin.errors import ConfigError
from pippin.files import refuse_taken, refuse_unwritable
from pippin.recording.series import Series

from .reading import Run
from .report.run_page import run_page


class RunFolder:
    """A folder for the files of one run, created when the first file is written.

    Args:
        path: The folder.
        continues: Whether its files may be replaced, by a command that continues where it stopped.

    Raises:
        ConfigError: `path` is a file, or a folder that is not empty.
    """

    def __init__(self, path: Path, *, continues: bool = False) -> None:
        #: The folder.
        self.path = path
        if not continues:
            refuse_taken(path, "out")
        refuse_unwritable(path / "config.toml", "out")

    @classmethod
    def named_after(cls, file: Path, parent: Path = Path("runs")) -> RunFolder:
        """Return a folder named after a configuration file, the date and the time, which does not exist yet."""
        name = f"{file.stem}-{datetime.now():%Y%m%d-%H%M%S}"
        path, copies = parent / name, 1
        while path.exists():
            copies += 1
            path = parent / f"{name}-{copies}"
        return cls(path)

    def write(
        self, file: str, config: SimulationConfig, summary: Mapping[str, Any], trace: HookTrace | None = None
    ) -> None:
        """Add configuration, summary, page and a trace of the hook calls, if there is one, to the other files."""
        self.write_config(config)
        self.write_summary(summary)
        if trace is not None:
            with self._new("hooks.csv") as path:
                trace.write(path)
        self.write_text("report.html", self._report(file, config, summary, trace))

    def write_config(self, config: SimulationConfig) -> None:
        """Write `config.toml`: every value of the run. `pippin run` repeats the run from this file."""
        self.write_text("config.toml", dump_toml(config))

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write `summary.json`."""
        self.write_json("summary.json", summary)

    def write_json(self, name: str, data: Mapping[str, Any]) -> None:
        """Write plain data as JSON into a file with the given name."""
        text = json.dumps(data, indent=2, ensure_ascii=False)
        self.write_text(name, f"{text}\n")

    def write_series(self, series: Mapping[str, Series]) -> None:
        """Write `series.npz`: each series by name, with `labels/<name>` and `units/<name>` if it has them."""
        arrays: dict[str, Any] = {name: one.values for name, one in series.items()}
        for name, one in series.items():
            notes = {"labels": one.labels, "units": one.units}
            arrays |= {f"{kind}/{name}": np.array(texts) for kind, texts in notes.items() if texts}
        self.write_arrays("series.npz", arrays)

    def write_arrays(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Write arrays by name into a file `.npz` with the given name."""
        with self._new(name) as file:
            named: dict[str, Any] = dict(arrays)  # a name is not an option
            np.savez(file, **named)

    def write_text(self, name: str, text: str) -> None:
        """Write a text file."""
        with self._new(name) as file:
            file.write_text(text, encoding="utf-8")

    def _report(self, file: str, config: SimulationConfig, summary: Mapping[str, Any], trace: HookTrace | None) -> str:
        """Return the page of the run, with the first recording and the videos that are in the folder."""
        with Run(self.path) as run:
            recording = next(iter(run.recordings.values()), None)
            series = {"time": Series(values=np.zeros(0), units=("s",)), **(recording or {})}
            if recording is not None:
                series["time"] = recording["time"]
            worlds = None if recording is None else recording.worlds
            return run_page(file, summary, series, dump_toml(config), folder=self.path, trace=trace, worlds=worlds)

    @contextmanager
    def _new(self, name: str) -> Iterator[Path]:
        """Give the path of a file that is written in the block; an error of the system becomes a ConfigError."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            yield self.path / name
        except OSError as error:
            text = f"out: '{self.path / name}' cannot be written ({error.strerror or error}); make room, or choose"
            raise ConfigError(f"{text} another folder") from error
