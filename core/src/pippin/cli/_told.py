"""Told: lines of several processes, each printed once."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

from pippin.runs.progress import RunProgress

__all__ = ["Told"]


class Told:
    """Lines that processes print. One that all print is printed once, another one with the worlds that it is about.

    Args:
        progress: Where they are printed.
        count: Number of processes.
    """

    def __init__(self, progress: RunProgress, count: int) -> None:
        self._progress, self._count = progress, count
        self._heard: dict[str, dict[str, float]] = {}
        self._printed: set[str] = set()

    def hear(self, text: str, worlds: str) -> None:
        """Keep a line of the process of some worlds until it is printed."""
        if text not in self._printed:
            self._heard.setdefault(text, {}).setdefault(worlds, time.monotonic())

    def forget(self, texts: Iterable[str]) -> None:
        """Drop lines that are told in another way."""
        for text in texts:
            self._heard.pop(text, None)

    def print(self, patience: float = -math.inf) -> None:
        """Print the lines that all have printed, and those that one printed longer ago than `patience` [s]."""
        for text, sayers in list(self._heard.items()):
            is_of_all = len(sayers) == self._count
            if is_of_all or time.monotonic() - min(sayers.values()) > patience:
                self._progress.note(text if is_of_all else f"{text} ({', '.join(sayers)})")
                self._printed.add(text)
                del self._heard[text]
