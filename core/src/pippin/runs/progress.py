"""Progress of a run: its phases with their durations, for whoever shows them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["RunProgress", "current_progress", "progress_shown_by"]


class RunProgress:
    """Phases, one after the other. This class measures them and shows nothing; a command shows them on the console."""

    owns_process = False
    """Whether the process does nothing else, so that settings of the whole process may be made for the run."""

    def __init__(self) -> None:
        #: Duration of every finished phase [s].
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure a phase while the block runs. Its duration is kept even if the block raises an error."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = time.perf_counter() - start

    def update(self, text: str) -> None:
        """Show the progress of the phase."""

    def note(self, text: str, *, once: str = "") -> None:
        """Show a line that stays; if `once` was given before, do nothing."""


_CURRENT: ContextVar[RunProgress | None] = ContextVar("progress", default=None)


def current_progress() -> RunProgress:
    """Return the progress of the command that runs, or a new one that shows nothing."""
    return _CURRENT.get() or RunProgress()


@contextmanager
def progress_shown_by(progress: RunProgress) -> Iterator[None]:
    """Let Pippin's functions report their progress to a command while the block runs."""
    token = _CURRENT.set(progress)
    try:
        yield
    finally:
        _CURRENT.reset(token)
