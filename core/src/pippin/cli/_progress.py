"""Progress of a command: a live line on a terminal, else a plain line every few seconds."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout

from pippin.runs.progress import RunProgress, log_shown, progress_shown_by
from rich.console import Console
from rich.status import Status

from ._options import options_named

_STDOUT, _STDERR = 1, 2
"""Numbers of the standard streams of a process."""

_PLAIN_PERIOD = 1.0
"""Shortest time between two plain lines of one phase [s]."""

_PLAIN_SHARE = 0.1
"""Time between two plain lines, as a share of the time that the phase has taken so far: a long run prints few lines."""


class ConsoleProgress(RunProgress):
    """Progress on a console: each phase is printed when it begins, and again with its duration when it ends.

    On a terminal, a running phase is a live line; otherwise it is a plain line.

    Args:
        console: Console to print to.
    """

    owns_process = True

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self._printed: set[str] = set()
        self._status: Status | None = None
        self._name = ""
        self._began = self._shown = 0.0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Show a phase while the block runs. Its duration is kept even if the block raises an error."""
        self._name = name
        self._began = self._shown = time.perf_counter()
        if not self._console.is_terminal:
            self.note(f"{name:<8} ...")
        with super().phase(name), self._live(name):
            yield
        self.note(f"{name:<8} {self.seconds[name]:.1f} s")

    def update(self, text: str) -> None:
        """Show the progress of the phase."""
        if self._status is not None:
            self._status.update(f"{self._name:<8} {text}")
        elif (now := time.perf_counter()) - self._shown >= max(_PLAIN_PERIOD, _PLAIN_SHARE * (now - self._began)):
            self._shown = now
            self.note(f"{self._name:<8} {text}")

    def note(self, text: str, *, once: str = "") -> None:
        """Print a line that stays; if `once` was given before, do nothing."""
        if once in self._printed:
            return
        self._printed |= {once} - {""}
        self._console.print(text, markup=False, emoji=False, highlight=False, soft_wrap=True)

    @contextmanager
    def _live(self, name: str) -> Iterator[None]:
        if not self._console.is_terminal:
            yield
            return
        # Redrawn four times a second: more would take time from the run.
        with self._console.status(name, refresh_per_second=4) as self._status:
            try:
                yield
            finally:
                self._status = None


@contextmanager
def shown_progress(is_stdout_reserved: bool = False) -> Iterator[ConsoleProgress]:
    """Show the progress of a command, and prevent other output between its lines.

    Python's warnings become lines of their own. This function imports nothing slow, so that the first line comes early.

    Args:
        is_stdout_reserved: Whether standard output is only for the result. All other output, including the progress,
            then goes to standard error.
    """
    progress = ConsoleProgress(Console(stderr=is_stdout_reserved))
    reserved = _stdout_on_stderr() if is_stdout_reserved else nullcontext()
    with log_shown(progress), progress_shown_by(progress), options_named(), _warp_quiet(), reserved:
        yield progress


@contextmanager
def _stdout_on_stderr() -> Iterator[None]:
    """Send to standard error what Python and compiled kernels print to standard output."""
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


@contextmanager
def _warp_quiet() -> Iterator[None]:
    """Limit Warp's messages to warnings if it is already imported; otherwise `import_newton` does this."""
    warp = sys.modules.get("warp")
    level = None if warp is None else warp.config.log_level
    if warp is not None:
        warp.config.log_level = warp.LOG_WARNING
    try:
        yield
    finally:
        warp = sys.modules.get("warp")
        if warp is not None:
            warp.config.log_level = warp.LOG_INFO if level is None else level
