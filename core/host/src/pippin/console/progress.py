"""Progress of a command: a live line on a terminal, else a plain line every few seconds."""

from __future__ import annotations

import atexit
import ctypes
import errno
import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import Any

from pippin.spelling import printable
from pippin.studies.progress import RunProgress, log_shown, progress_shown_by
from rich.console import Console
from rich.markup import escape
from rich.status import Status

from .options import HIDES_NOTES, HIDES_PROGRESS, SHOWS_LOG, is_given, options_named

_STDOUT, _STDERR = 1, 2
"""Numbers of the standard streams of a process."""

_PLAIN_PERIOD = 1.0
"""Shortest time between two plain lines of one phase [s]."""

_PLAIN_SHARE = 0.1
"""Time between two plain lines, as a share of the time that the phase has taken so far: a long run prints few lines."""

_SILENCE, _PLAIN_SILENCE = 2.0, 5.0
"""Time without an update after which a live line and plain lines show how long that is [s]."""


class ConsoleProgress(RunProgress):
    """Progress on a console: each phase is printed when it begins, and again with its duration when it ends.

    On a terminal, a running phase is a live line; otherwise it is a plain line. A phase that has nothing to tell counts
    the seconds since its last update. If it is not shown, only notes are.
    """

    owns_process = True

    def __init__(self, console: Console, *, is_shown: bool = True) -> None:
        super().__init__()
        self._console, self._is_shown = console, is_shown
        self.is_live = is_shown and console.is_terminal and not console.is_dumb_terminal and not console.no_color
        self._printed: set[str] = set()
        self._status: Status | None = None
        self._name = self._text = ""
        self._began = self._shown = self._updated = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def phase(self, name: str, *, has_end: bool = True) -> Iterator[None]:
        """Show a phase while the block runs. Its duration is kept even if the block raises an error."""
        self._name, self._text = name, ""
        self._began = self._shown = self._updated = time.perf_counter()
        if self._is_shown and not self.is_live:
            self.note(f"{name:<8} ...")
        with super().phase(name), self._live(name), self._counting() if has_end else nullcontext():
            yield
        if self._is_shown:
            self.note(f"{name:<8} {self.seconds[name]:.1f} s")

    def update(self, text: str) -> None:
        """Show the progress of the phase."""
        self._text, self._updated = text, time.perf_counter()
        self._show(text)

    def note(self, text: str, *, once: str = "") -> None:
        """Print a line that stays; if `once` was given before, do nothing."""
        if once in self._printed:
            return
        self._printed |= {once} - {""}
        text = "\n".join(map(printable, text.splitlines()))
        try:
            self._console.print(text, markup=False, emoji=False, highlight=False, soft_wrap=True)
        except OSError:  # nobody reads it, or the disk is full: the work goes on
            self._console.quiet = True
            silence(self._console.file)

    def _show(self, text: str) -> None:
        now = time.perf_counter()
        with self._lock:
            if self._status is not None:
                self._status.update(escape(printable(f"{self._name:<8} {text}")))
            elif self._is_shown and now - self._shown >= max(_PLAIN_PERIOD, _PLAIN_SHARE * (now - self._began)):
                self._shown = now
                self.note(f"{self._name:<8} {text}")

    @contextmanager
    def _counting(self) -> Iterator[None]:
        is_over, patience = threading.Event(), _SILENCE if self.is_live else _PLAIN_SILENCE

        def count() -> None:
            while not is_over.wait(0.5):
                silence = time.perf_counter() - self._updated
                if silence >= patience:
                    self._show(f"{self._text} ({silence:.0f} s)".strip())

        thread = threading.Thread(target=count, daemon=True)
        if self._is_shown:
            thread.start()
        try:
            yield
        finally:
            is_over.set()
            if self._is_shown:
                thread.join()

    @contextmanager
    def _live(self, name: str) -> Iterator[None]:
        if not self.is_live:
            yield
            return
        # Redrawn four times a second: more would take time from the run.
        with self._console.status(name, refresh_per_second=4) as self._status:
            try:
                yield
            finally:
                self._status = None


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raise the error, and do not end the process."""
        raise BrokenPipeError(errno.EPIPE, "nobody reads the output")


def silence(stream: Any) -> None:
    """Let a stream lead nowhere: what it could not write is dropped, also at the end of the process.

    Args:
        stream: A stream that cannot be written.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def shown_progress(is_stdout_reserved: bool = False) -> Iterator[RunProgress]:
    """Show the progress of a command, and prevent other output between its lines.

    Python's warnings become lines of their own. This function imports nothing slow, so that the first line comes early.

    Args:
        is_stdout_reserved: Whether standard output is only for the result. All other output, including the progress,
            then goes to standard error.
    """
    atexit.register(gc.freeze)  # or Python walks all that was imported once more before it ends, for seconds
    is_quiet = is_given(HIDES_NOTES)
    is_shown = not is_quiet and not is_given(HIDES_PROGRESS)
    progress = ConsoleProgress(_Console(stderr=is_stdout_reserved), is_shown=is_shown)
    progress.has_remarks, progress.keeps_log = not is_quiet, is_given(SHOWS_LOG)
    reserved = _stdout_on_stderr() if is_stdout_reserved else nullcontext()
    with log_shown(progress), progress_shown_by(progress), options_named(), reserved:
        yield progress


@contextmanager
def _stdout_on_stderr() -> Iterator[None]:
    native = ctypes.CDLL(None if os.name == "posix" else "ucrtbase")
    sys.stdout.flush()
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        native.fflush(None)  # kernels print through a buffer of the C library
        os.dup2(kept, _STDOUT)
        os.close(kept)
