"""Base class of recorders: it gathers rows and keeps to its buffer, a plugin opens, writes and finishes a file."""

from __future__ import annotations

import abc
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pippin.binding import Binding, Host
from pippin.errors import ConfigError, SimulationError
from pippin.files import output_path
from pippin.hookspecs import hookimpl
from pippin.indices import chosen_worlds

from .files import is_full, locked, refuse_locked, room_for
from .header import Header, WholeRun
from .reading import PartialFiles

_RESERVE = 1_000_000
"""Free bytes that recorders leave on a disk, besides twice their buffer."""

_CONTACT_COUNT = "contacts/count"

_SLOW = 1.0
"""Time spent on writing that a reader of the results should know of [s]."""


class Recorder(abc.ABC):
    """Writes chosen channels after every control step, or every `period`, into a file.

    A plugin adds `suffix`, `open`, `write` and `finish`. It writes all that it got in `write` before it
    returns, so that the rows survive the end of the process. The file is opened with the first row.

    Args:
        config: The plugin's configuration.
    """

    suffix: ClassVar[str]
    """Suffix of the files, such as `.h5`."""

    is_observer: bool = True
    """Whether the component only observes; a recorder does."""

    #: The file; known after `bind`.
    path: Path
    #: Indices of the recorded worlds, shape [worlds]; known after `bind`.
    worlds: np.ndarray
    #: Everything about the recording besides its rows; known after the first row.
    header: Header
    #: For the core: The run, if other processes simulate other worlds of it; set after `bind`.
    whole_run: WholeRun | None = None

    def __init__(self, config: Any) -> None:
        self.config = config
        #: Facts that a reader of the results should know.
        self.notes: list[str] = []
        #: Time spent on writing [s].
        self.writing_time: float = 0.0
        #: Number of rows so far, including those in the buffer.
        self.row_count: int = 0
        #: Whether the file lacks rows, as there was no room for them.
        self.is_incomplete: bool = False
        self._most_contacts = 0
        self._is_open = self._is_over = False

    @abc.abstractmethod
    def open(self, path: Path, header: Header) -> None:
        """Begin a file, and replace one that is there.

        Args:
            path: The file.
            header: The channels, and the run that they belong to.
        """

    @abc.abstractmethod
    def write(self, rows: np.ndarray) -> None:
        """Append rows, a structured array of `header.row_type`: `rows["time"]` [s], shape [rows], `rows["joint_q"]` and
        so on, shape [rows, worlds, …]. The next rows overwrite the array.
        """

    @abc.abstractmethod
    def finish(self) -> None:
        """Complete and close the file. Called once if it was opened, also after a failed `write`."""

    def join(self, files: PartialFiles, path: Path) -> None:
        """For the core: Write a file of the recordings of several processes, as if one had recorded all worlds.

        The recorder is not bound to a simulation.

        Args:
            files: The recordings, in the order of their worlds.
            path: The file, which is replaced if it is there.
        """
        self.open(path, files.header)
        try:
            for rows in files.blocks():
                self.write(rows)
        finally:
            self.finish()

    @property
    def needed(self) -> Sequence[str]:
        """Names of channels that the format needs besides those of `config.series`."""
        return ()

    @property
    def growing_path(self) -> Path:
        """The file that `write` appends to: `path`, unless the format is written in a file beside it."""
        return self.path

    def free_bytes(self, path: Path) -> float:
        """Return the number of bytes that `path` can still grow by: of its disk, and of the limit on file sizes."""
        return room_for(path)

    @property
    def period(self) -> float | None:
        """Simulated time from one row to the next [s]; None for a row after every control step."""
        return self.config.period

    @hookimpl
    def bind(self, simulation: Host, binding: Binding) -> None:
        """Find the arrays to record, and allocate the buffer.

        Raises:
            ConfigError: A pattern matches no channel, the chosen worlds have different contents or do not exist, or the
                file cannot be written.
            PluginError: A library of the format is not installed.
        """
        from .row_buffer import row_buffer

        self._label, self._simulation = binding.label, simulation
        self._step_period = binding.step_period
        self.path = self._found_path(simulation.folder, binding.label.partition(":")[2])
        self.worlds = chosen_worlds(self.config.worlds, simulation.world_count, "worlds")
        #: The recorded channels; known after `bind`.
        self.channels = self._found_channels(simulation)
        self._rows = row_buffer(self.channels, self.config.chunk_bytes, simulation.model.device)
        self._buffer_size = self._rows.capacity * self._rows.row_size

    @hookimpl
    def after_step(self, simulation: Host) -> None:
        """Add a row, and write the buffer if it is full or `flush_period` is over."""
        if self._is_over:
            return
        if not self._is_open:
            self._start(simulation)
        self._rows.add(simulation.time)
        self.row_count += 1
        if self._rows.is_full or time.perf_counter() - self._flushed >= self.config.flush_period:
            self.flush()

    @hookimpl
    def close(self) -> None:
        """Write what is left, and complete the file."""
        if not self._is_open or self._is_over:
            return
        try:
            self.flush()
        finally:
            if not self._is_over:
                self._end()
            if self.writing_time > _SLOW:
                self.notes.append(f"{self.writing_time:.1f} s were spent on writing '{self.path}'")

    def flush(self) -> None:
        """Write the rows that are in the buffer.

        Raises:
            SimulationError: The disk is nearly full, and `on_full` is `stop-run`.
        """
        self._flushed = start = time.perf_counter()
        if not self._rows.count:
            return
        rows = self._rows.take()
        if _CONTACT_COUNT in (rows.dtype.names or ()):
            self._most_contacts = max(self._most_contacts, int(rows[_CONTACT_COUNT].max()))
        reason = self._shortage() or self._written(rows)
        self._flushed = time.perf_counter()
        self.writing_time += self._flushed - start
        if reason is not None:
            self.row_count -= len(rows)
            self._stop(reason, float(rows["time"][0]))

    def _found_path(self, folder: Path | None, label: str) -> Path:
        path = output_path(folder, self.config.path or f"{label}{self.suffix}")
        if path.suffix != self.suffix:
            raise ConfigError(f"path: '{path}' must end with {self.suffix}, by which readers know the format")
        return path

    def _found_channels(self, simulation: Host) -> tuple[Any, ...]:
        from .channels import channels

        return channels(
            simulation,
            self.worlds,
            self.config.series,
            episode=simulation.reset_counts,
            also=self.needed,
            max_contacts=self.config.max_contacts,
        )

    def _start(self, simulation: Host) -> None:
        name = self._label.partition(":")[2]
        self.header = Header.of(simulation, name, self.worlds, self._step_period, self.channels, self.whole_run)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.growing_path.exists():
            refuse_locked(self.growing_path, "path: ")
        self.open(self.path, self.header)
        self._lock = locked(self.growing_path)
        self._is_open, self._flushed = True, time.perf_counter()

    def _shortage(self) -> str | None:
        """Return why the buffer must not be written; None if there is room for it, and for the end of the file."""
        room = self.free_bytes(self.growing_path)
        if room >= 2 * self._buffer_size + _RESERVE:
            return None
        return f"only {max(room, 0) / 1e6:.3g} MB are left for it"

    def _written(self, rows: np.ndarray) -> str | None:
        try:
            self.write(rows)
        except OSError as error:
            if not is_full(error):
                raise
            return f"the system has no room for it ({error.strerror})"
        return None

    def _stop(self, reason: str, end: float) -> None:
        self.is_incomplete = True
        self._end()
        text = f"'{self.path}' ends before t = {end:.6g} s, as {reason}; free some space, or record less"
        self.notes.append(text)
        if self.config.on_full == "stop-run":
            raise SimulationError(f"{self._label}: {text}")

    def _end(self) -> None:
        self._is_over = True
        if self._most_contacts > self.config.max_contacts:
            self.notes.append(
                f"'{self.path}' has the first {self.config.max_contacts} contacts of a world, but there were up to"
                f" {self._most_contacts}; raise max_contacts"
            )
        if self._lock is not None:
            self._lock.close()
        try:
            self.finish()
        except OSError as error:
            if not is_full(error):
                raise
            self.is_incomplete = True
            self.notes.append(f"'{self.path}' could not be completed, as the system has no room ({error.strerror})")
