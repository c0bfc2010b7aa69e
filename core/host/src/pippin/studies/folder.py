"""Run folders: the files of a run or of a study, such as its configuration, its summary and its page."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import numpy as np
from pippin.config import SimulationConfig, dump_toml
from pippin.errors import ConfigError
from pippin.files import refuse_taken, refuse_unwritable
from pippin.recording.series import Series


class RunFolder:
    """A folder for the files of a run or of a study, created when the first file is written.

    Args:
        path: The folder.
        continues: Whether its files may be replaced, by a command that continues where it stopped.
        is_written: Whether there will be files; without them, nothing is refused.

    Raises:
        ConfigError: `path` is a file, or a folder that is not empty, or it cannot be written.
    """

    def __init__(self, path: Path, *, continues: bool = False, is_written: bool = True) -> None:
        #: The folder.
        self.path: Path = path
        if is_written and not continues:
            refuse_taken(path, "out")
        if is_written:
            refuse_unwritable(path / "config.toml", "out")

    @classmethod
    def named_after(cls, file: Path, parent: Path = Path("runs"), *, is_written: bool = True) -> Self:
        """Return a folder named after a configuration file, the date and the time, which does not exist yet.

        Args:
            file: The file.
            parent: The folder that has the folders of all runs.
            is_written: Whether there will be files.
        """
        name = f"{file.stem}-{datetime.now():%Y%m%d-%H%M%S}"
        path, copies = parent / name, 1
        while path.exists():
            copies += 1
            path = parent / f"{name}-{copies}"
        return cls(path, is_written=is_written)

    @classmethod
    def chosen(cls, out: str | os.PathLike[str] | None, file: str | os.PathLike[str]) -> Self:
        """Return the folder that a user chose, or by default one in `runs`, named after a file, the date and the time.

        Args:
            out: The folder that was chosen; None if none was.
            file: The file that is run or studied.

        Raises:
            ConfigError: `out` is a file, or a folder that is not empty.
        """
        return cls.named_after(Path(file)) if out is None else cls(Path(out))

    def write_config(self, config: SimulationConfig) -> None:
        """Write `config.toml`: every value of the run. `pippin run` repeats the run from this file.

        Args:
            config: The configuration.
        """
        self.write_text("config.toml", dump_toml(config))

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write `summary.json`.

        Args:
            summary: Plain data.
        """
        self.write_json("summary.json", summary)

    def write_json(self, name: str, data: Mapping[str, Any]) -> None:
        """Write plain data as JSON.

        Args:
            name: Name of the file.
            data: The data.
        """
        text = json.dumps(data, indent=2, ensure_ascii=False)
        self.write_text(name, f"{text}\n")

    def write_series(self, series: Mapping[str, Series]) -> None:
        """Write `series.npz`: each series by name, with `labels/<name>` and `units/<name>` if it has them.

        Args:
            series: The series.
        """
        arrays: dict[str, Any] = {name: one.values for name, one in series.items()}
        for name, one in series.items():
            notes = {"labels": one.labels, "units": one.units}
            arrays |= {f"{kind}/{name}": np.array(texts) for kind, texts in notes.items() if texts}
        self.write_arrays("series.npz", arrays)

    def write_arrays(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Write arrays by name.

        Args:
            name: Name of the file, which ends with `.npz`.
            arrays: The arrays.
        """
        with self.written(name) as file:
            named: dict[str, Any] = dict(arrays)  # a name is not an option
            np.savez(file, **named)

    def write_text(self, name: str, text: str) -> None:
        """Write a text file.

        Args:
            name: Name of the file.
            text: The text.
        """
        with self.written(name) as file:
            file.write_text(text, encoding="utf-8", errors="replace")  # names of files need not be UTF-8

    @contextmanager
    def written(self, name: str) -> Iterator[Path]:
        """Give the path of a file that is written in the block, and gets its name at the end: never a part of it.

        Args:
            name: Name of the file.

        Raises:
            ConfigError: The system cannot write it.
        """
        part = self.path / f".part-{name}"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            yield part
            os.replace(part, self.path / name)
        except OSError as error:
            text = f"out: '{self.path / name}' cannot be written ({error.strerror or error}); make room, or choose"
            raise ConfigError(f"{text} another folder") from error
        finally:
            with suppress(OSError):
                part.unlink()
