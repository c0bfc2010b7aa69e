"""Progress of a run: its phases with their durations, for whoever shows them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["RunProgress"]


class RunProgress:
    """Phases, one after the other. This class measures them and shows nothing; a command shows them on the console."""

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
