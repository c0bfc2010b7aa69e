"""Progress of a run: its phases with their durations, for whoever shows them."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class RunProgress:
    """Phases, one after the other. This class measures them and shows nothing; a command shows them on the console."""

    owns_process = False
    """Whether the process does nothing else, so that settings of the whole process may be made for the run."""

    is_live = False
    """Whether an update draws over the last one."""

    has_remarks = True
    """Whether remarks are shown."""

    keeps_log = False
    """Whether records of the log at the level of information are lines that stay."""

    def __init__(self) -> None:
        #: Duration of every finished phase [s].
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str, *, has_end: bool = True) -> Iterator[None]:
        """Measure a phase while the block runs. Its duration is kept even if the block raises an error.

        Args:
            name: The name, one word or two.
            has_end: Whether it ends by itself; one without may be silent for long.
        """
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = time.perf_counter() - start

    def update(self, text: str) -> None:
        """Show the progress of the phase.

        Args:
            text: One line, which the next one replaces.
        """

    def note(self, text: str, *, once: str = "") -> None:
        """Show a line that stays.

        Args:
            text: The line.
            once: If it was given before, do nothing.
        """

    def remark(self, text: str, head: str = "") -> None:
        """Show a note once; it stays on the screen.

        Args:
            text: The line.
            head: What stands in front of it, and makes it no other line.
        """
        if self.has_remarks:
            self.note(head + text, once=text)


_CURRENT: ContextVar[RunProgress | None] = ContextVar("progress", default=None)


def current_progress() -> RunProgress:
    """Return the progress of the command that runs, or a new one that shows nothing."""
    return _CURRENT.get() or RunProgress()


@contextmanager
def progress_shown_by(progress: RunProgress) -> Iterator[None]:
    """Let Pippin's functions report their progress while the block runs.

    Args:
        progress: Shows it: that of a command, or of a study that calls others.
    """
    token = _CURRENT.set(progress)
    try:
        yield
    finally:
        _CURRENT.reset(token)


class _LogHandler(logging.Handler):
    """Shows log records of the library as progress; those above the level of information as lines that stay, once."""

    def __init__(self, progress: RunProgress) -> None:
        super().__init__(logging.INFO)
        self._progress = progress

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.levelno > logging.INFO:
            self._progress.remark(text, "note: ")
        elif self._progress.keeps_log:
            self._progress.note(text)
        else:
            self._progress.update(text)


@contextmanager
def log_shown(progress: RunProgress) -> Iterator[None]:
    """Show the log records of the library, and Python's warnings, as progress."""
    logger, handler = logging.getLogger("pippin"), _LogHandler(progress)
    level, is_passed_on = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False  # a handler of the root, which some libraries install, would print it again
    try:
        with warnings.catch_warnings():
            # Once: what reads a file several times repeats them.
            warnings.showwarning = lambda message, *_, **__: progress.note(f"warning: {message}", once=str(message))
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = is_passed_on
