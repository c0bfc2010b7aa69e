"""Messages of several processes, each printed once."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

from pippin.studies import RunProgress


class MessageMerger:
    """Prints each message of the workers once: one of all as it is, another one with its worlds."""

    def __init__(self, progress: RunProgress, count: int) -> None:
        self._progress, self._count = progress, count
        self._pending: dict[str, dict[str, float]] = {}
        self._printed: set[str] = set()

    def add(self, text: str, worlds: str) -> None:
        """Keep a message of the worker of some worlds until it is printed."""
        if text not in self._printed:
            self._pending.setdefault(text, {}).setdefault(worlds, time.monotonic())

    def drop(self, texts: Iterable[str]) -> None:
        """Drop messages that the user gets in another way."""
        for text in texts:
            self._pending.pop(text, None)

    def print(self, patience: float = -math.inf) -> None:
        """Print the messages that all workers sent, and those that one sent longer ago than `patience` [s]."""
        for text, senders in list(self._pending.items()):
            is_common = len(senders) == self._count
            if is_common or time.monotonic() - min(senders.values()) > patience:
                self._progress.note(text if is_common else f"{text} ({', '.join(senders)})")
                self._printed.add(text)
                del self._pending[text]
