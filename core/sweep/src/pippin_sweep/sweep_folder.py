"""The folder of a sweep: a folder for each finished variant, and the table of all, as CSV or Parquet.

A variant is written into a hidden folder and renamed when it is whole: a folder with a name of its own is finished.
"""

from __future__ import annotations

import csv
import errno
import json
import os
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pippin import ConfigError, SimulationConfig, SimulationError
from pippin.config import dump_toml
from pippin.extras import import_library
from pippin.studies import RunFolder, versions
from pippin.viewing import FileViewerConfig

from .variants import FORMAT, Variant

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a system without room for the rest of a file."""

_BEGUN = ("sweep.lock", "variants")
"""What a sweep makes first: it may have had no room for more."""


class SweepFolder(RunFolder):
    """A folder of one sweep. Only one process at a time runs it, by a command that is kept.

    Raises:
        ConfigError: The folder belongs to something else, or another process runs the sweep.
        SimulationError: The folder cannot be written.
    """

    def __init__(self, path: Path, variants: Sequence[Variant], command: Sequence[str] = ()) -> None:
        super().__init__(path, continues=True)
        #: The folder of the variants.
        self.variants: Path = (path / "variants").absolute()
        what = {"format": FORMAT, "variants": [each.id for each in variants], "versions": versions()}
        self._refuse_others(what)
        try:
            self.variants.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(path / "sweep.lock")
        except OSError as error:
            raise unwritable(path, error) from error
        try:
            self.write_json("sweep.json", {**what, "command": list(command)})
        except BaseException:
            self.close()
            raise
        for left in self.variants.glob(".*"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)

    def close(self) -> None:
        """Let other processes run the sweep."""
        self._lock.close()

    def begin(self, variant: Variant, attempt: int = 0) -> Path:
        """Make the hidden folder of an attempt at a variant, with its configuration; remove an incomplete result. An
        earlier attempt may still write into its own one, on a node that is only cut off.
        """
        shutil.rmtree(self.final(variant), ignore_errors=True)
        folder = self.variants / f".{variant.id}-{os.getpid()}-{attempt}"
        folder.mkdir()
        (folder / "config.toml").write_text(dump_toml(unwatched(variant.config)), encoding="utf-8")
        return folder

    def final(self, variant: Variant) -> Path:
        """Return the folder of a finished variant."""
        return self.variants / variant.id

    def summary(self, variant: Variant) -> dict[str, Any] | None:
        """Return the summary of a variant; None if it has not finished."""
        try:
            return json.loads((self.final(variant) / "summary.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def final_summary(self, variant: Variant) -> dict[str, Any] | None:
        """Return the summary of a variant; None if it is to run, or to run again."""
        found = self.summary(variant)
        return None if found is not None and found["outcome"] == "incomplete" else found

    def write_table(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write `results.csv`."""
        with self.written("results.csv") as file:
            write_csv(file, rows)

    @contextmanager
    def written(self, name: str) -> Iterator[Path]:
        """Give the path at which a file is written in the block; it gets its name when it is whole."""
        hidden = self.path / f".{name}"
        try:
            yield hidden
            hidden.replace(self.path / name)
        except OSError as error:
            raise unwritable(self.path, error) from error
        finally:
            hidden.unlink(missing_ok=True)

    def _refuse_others(self, what: Mapping[str, Any]) -> None:
        made = [*self.path.iterdir()] if self.path.is_dir() else []
        if all(path.name in _BEGUN and not (path.is_dir() and any(path.iterdir())) for path in made):
            return
        try:
            found = json.loads((self.path / "sweep.json").read_text(encoding="utf-8"))
            found = {key: found[key] for key in ("variants", "format", "versions")}
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ConfigError(f"--out: '{self.path}' is not empty, and no sweep; choose another folder") from error
        if found["variants"] != what["variants"] or found["format"] != what["format"]:
            raise ConfigError(f"--out: '{self.path}' holds another sweep; choose another folder, or remove this one")
        changed = {
            name: version for name, version in what["versions"].items() if found["versions"].get(name) != version
        }
        if changed:
            before = ", ".join(f"{name} {found['versions'].get(name)}" for name in changed)
            now = ", ".join(f"{name} {version}" for name, version in changed.items())
            raise ConfigError(f"--out: '{self.path}' was begun with {before}, here is {now}; choose another folder")


def unwatched(config: SimulationConfig) -> SimulationConfig:
    """Return a configuration without the viewers that somebody watches; those that write videos stay."""
    videos = {label: each for label, each in config.viewers.items() if isinstance(each.config, FileViewerConfig)}
    return config.with_tables(viewers=videos)


def unwritable(folder: Path, error: OSError) -> SimulationError:
    """Return the error of a folder that has no room, or that the user may not write."""
    cure = "make room, and run the same command again" if error.errno in _FULL else "choose another folder by --out"
    return SimulationError(f"{folder}: cannot be written ({error}); {cure}")


def publish(folder: Path, final: Path, summary: Mapping[str, Any]) -> None:
    """Write the summary of a variant into its hidden folder, and give the folder its name. The first one wins."""
    found = {**_renamed(summary, str(folder), str(final)), "host": socket.gethostname()}
    (folder / "summary.json").write_text(json.dumps(found, indent=2, ensure_ascii=False), encoding="utf-8")
    (folder / "begun").unlink(missing_ok=True)
    try:
        folder.rename(final)
    except OSError:
        if not (final / "summary.json").exists():
            raise
        shutil.rmtree(folder)


def _renamed(data: Any, before: str, after: str) -> Any:
    if isinstance(data, str):
        return data.replace(before, after)
    if isinstance(data, Mapping):
        return {key: _renamed(value, before, after) for key, value in data.items()}
    return [_renamed(each, before, after) for each in data] if isinstance(data, list | tuple) else data


def _locked(path: Path) -> IO[str]:
    file = path.open("w", encoding="utf-8")
    try:
        import fcntl
    except ImportError:  # no such locks on Windows
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise ConfigError(f"--out: '{path.parent}' is being run by another process; wait for its end") from error
    return file


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows into a CSV file; a value that a row does not have is an empty cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _columns(rows), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows into a Parquet file. A column of several types becomes text.

    Raises:
        PluginError: The extra `parquet` is not installed.
    """
    arrow, parquet = import_library("pyarrow", "parquet"), import_library("pyarrow.parquet", "parquet")
    columns = {name: _of_one_type([row.get(name) for row in rows]) for name in _columns(rows)}
    parquet.write_table(arrow.table(columns), path)


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def _of_one_type(values: list[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or kinds == {int, float}:
        return values
    return [None if value is None else str(_cell(value)) for value in values]
