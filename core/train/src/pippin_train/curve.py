"""The curve of a training: a file with a row for each iteration, and its charts."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from io import StringIO
from typing import Any

import numpy as np
from pippin.report import Chart, Markup, section
from pippin.studies import RunFolder

CURVE = "training.csv"
"""The file."""

_FIRST = ("iteration", "steps", "seconds", "mean_return", "mean_length", "played_return", "played_length")
"""Columns of every training; others follow when there is a number for them."""

EARLY = "played_early_ends"
"""Column of the number of episodes without noise that a termination ended."""

_PAIRS = {
    "return": ("Mean return", "", "mean_return", "played_return"),
    "length": ("Mean length of episodes", "control steps", "mean_length", "played_length"),
}
"""Title, unit, and the columns of episodes with and without noise."""

_GROUPS = {
    "reward": "Mean sum of each reward in the episodes of an iteration",
    "ended": "Share of these episodes that each termination ended",
    "metric": "Mean of each metric of these episodes",
    "curriculum": "Numbers of curricula, means over the worlds",
}
"""Titles of charts with several lines, by the first part of the names."""


class Curve:
    """The file in a run folder. Rows after an iteration are left out: a killed training takes them again.

    Args:
        folder: The run folder, which may have a curve.
        last: The iteration.
    """

    def __init__(self, folder: RunFolder, last: int) -> None:
        self._folder, self._path = folder, folder.path / CURVE
        self._columns: list[str] = []
        with suppress(FileNotFoundError):
            head, *lines = self._path.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [line for line in lines if line.endswith("\n") and int(line.partition(",")[0]) <= last]
            self._columns = next(csv.reader([head]))
            folder.write_text(CURVE, "".join([head, *kept]))

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a row, the values by column; None and missing ones leave their cells empty."""
        known = self._columns or _FIRST
        if missing := [key for key in (*_FIRST, *row) if key not in self._columns]:
            rows = read_rows(self._path) if self._columns else []
            self._columns = [*known, *(key for key in dict.fromkeys(missing) if key not in known)]
            self._folder.write_text(CURVE, self._text([self._columns, *map(self._cells, rows)]))
        with self._path.open("a", newline="", encoding="utf-8") as file:
            file.write(self._text([self._cells(row)]))

    def _cells(self, row: Mapping[str, Any]) -> list[Any]:
        values = [row.get(key) for key in self._columns]
        return [f"{value:.6g}" if isinstance(value, float) else value for value in values]

    def _text(self, rows: Sequence[Sequence[Any]]) -> str:
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue()


def read_rows(path: Any) -> list[dict[str, str]]:
    """Return the rows of a curve, the texts by column."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sections(rows: Sequence[Mapping[str, str]]) -> Iterator[Markup]:
    """Yield the charts of a curve: episodes, rewards and ends, and what the learner tells."""
    times = np.array([float(row["seconds"]) for row in rows])

    def line(key: str) -> np.ndarray:
        return np.array([float(row.get(key) or "nan") for row in rows])

    def chart(title: str, lines: Mapping[str, np.ndarray], unit: str = "") -> Chart:
        return Chart.of(title, lines, times, unit, note="over wall time")

    episodes = []
    for title, unit, noisy, played in _PAIRS.values():
        lines = {"of the last 100 episodes": line(noisy)}
        if np.isfinite(line(played)).any():
            lines["played without noise"] = _held(line(played))
        episodes.append(chart(title, lines, unit))
    if np.isfinite(early := line(EARLY)).any():
        episodes.append(chart("Episodes without noise that end early", {"of those that play": _held(early)}))
    others = [key for key in dict.fromkeys(key for row in rows for key in row) if key and key not in (*_FIRST, EARLY)]
    grouped: dict[str, dict[str, np.ndarray]] = {}
    for key in others:
        group, _, label = key.partition("/")
        if group in _GROUPS:
            grouped.setdefault(group, {})[label] = line(key)
    yield section("Episodes", episodes, id="episodes")
    if grouped:
        yield section("Terms", [chart(_GROUPS[group], lines) for group, lines in grouped.items()], id="terms")
    if own := [key for key in others if key.partition("/")[0] not in _GROUPS]:
        yield section("Learner", [chart(key, {key: line(key)}) for key in own], id="learner")


def _held(values: np.ndarray) -> np.ndarray:
    """Return values that stay from one play to the next."""
    known = np.maximum.accumulate(np.where(np.isfinite(values), np.arange(len(values)), 0))
    return values[known]
