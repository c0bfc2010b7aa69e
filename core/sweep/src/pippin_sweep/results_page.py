"""Page of a sweep: each figure against each swept key, videos side by side, and the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from pippin.measuring import COLUMNS, UNITS, figure_text
from pippin.report import Axis, Chart, Markup, element, noted, section, table, videos

Row = Mapping[str, Any]

_NO_CHART = ("worlds", "steps", "simulated_time", "time_to_first_step", "first_diverged_step", "is_captured")
"""Figures that are no results of physics; the table has them."""

_LINES_MAX = 10
"""Largest number of lines of a chart; more are shown by their median and their range."""

_WIDE = 50.0
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""

_BADGES = {"ok": "badge good", "waiting": "badge", "stopped": "badge", "incomplete": "badge"}


def results_page(name: str, rows: Sequence[Row], keys: Sequence[str], folder: Path) -> list[Markup]:
    """Return the parts of the page of a sweep of a file: its table, the swept keys, and the folder of the variants."""
    facts = {*keys, "id", "outcome", "reason", "notes", "ignores", "seconds", "host", "shared"}
    figures = list(dict.fromkeys(name for row in rows for name in row if name not in facts))
    finished = [row for row in rows if row["outcome"] == "ok"]
    shown = [
        video
        for row in rows
        for video in videos(folder / row["id"], _settings(row, keys), f"{folder.name}/{row['id']}/")
    ]
    drawn = [
        section(f"By {key}", [*_charts(finished, key, keys, figures)])
        for key in keys
        if len(_values(finished, key)) > 1
    ]
    notes = {
        _settings(row, keys): [row[each] for each in ("reason", "notes") if row[each]]
        for row in rows
        if row["reason"] or row["notes"]
    }
    return [
        *_header(name, rows),
        *(drawn or [element("p", "A chart needs two finished variants that differ in a key.")]),
        section("Videos", element("div", *shown, class_="videos") if shown else None),
        section("Variants", *_table(rows, keys, figures)),
        section("Reasons and notes", noted(notes)),
    ]


def _header(name: str, rows: Sequence[Row]) -> Iterator[Markup]:
    count = sum(row["outcome"] == "ok" for row in rows)
    badge = element("span", f"{count} of {len(rows)} ok", class_=f"badge{' good' * (count == len(rows))}")
    shared = any(row["shared"] for row in rows)
    text = "several variants ran at a time, so that speeds are no measurements" if shared else "one variant at a time"
    yield element("header", element("h1", name, badge), element("p", text))


def _charts(rows: Sequence[Row], key: str, keys: Sequence[str], figures: Sequence[str]) -> Iterator[Chart]:
    others = [other for other in keys if other != key and len(_values(rows, other)) > 1]
    axis, places = _axis(_values(rows, key))
    combinations = list(dict.fromkeys(tuple(str(row[other]) for other in others) for row in rows))
    for figure in figures:
        values = np.full((max(1, len(combinations)), len(places)), np.nan)
        for row in rows:
            value = row.get(figure)
            line = combinations.index(tuple(str(row[other]) for other in others))
            values[line, places[row[key]]] = value if _is_number(value) else np.nan
        values[~np.isfinite(values)] = np.nan
        is_speed = figure == "world_steps_per_second" and any(row["shared"] for row in rows)
        if figure in _NO_CHART or is_speed or not (values > 0.0).any():
            continue
        short = [other.rpartition(".")[2] for other in others]
        names = [", ".join(map(" = ".join, zip(short, each, strict=True))) or figure for each in combinations]
        if len(names) > _LINES_MAX:
            names, values = ["smallest", "median", "largest"], _spread(values)
        least, most = np.nanmin(values), np.nanmax(values)
        yield Chart.of(
            COLUMNS.get(figure, figure).partition(" [")[0],
            dict(zip(names, values, strict=True)),
            axis,
            UNITS.get(figure, "").replace("1/s", ""),
            is_logarithmic=bool(least > 0.0 and most > _WIDE * least),
        )


def _spread(values: np.ndarray) -> np.ndarray:
    """Return the smallest, the median and the largest value of each column; NaN for one without values."""
    columns = [column[~np.isnan(column)] for column in values.T]
    rows = [np.quantile(column, (0.0, 0.5, 1.0)) if len(column) else np.full(3, np.nan) for column in columns]
    return np.array(rows).T


def _values(rows: Sequence[Row], key: str) -> list[Any]:
    found = list(dict.fromkeys(row[key] for row in rows))
    return sorted(found) if all(_is_number(each) for each in found) else found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _axis(values: Sequence[Any]) -> tuple[Axis, dict[Any, int]]:
    at, is_ordered = np.arange(len(values), dtype=float), all(map(_is_number, values))
    if is_ordered and np.isfinite(values).all():
        at = np.array(values, dtype=float)
        if at[0] > 0.0 and at[-1] > _WIDE * at[0]:
            at = np.log10(at)
    axis = Axis.of([_text(value) for value in values], at.tolist(), is_ordered=is_ordered)
    return axis, {value: index for index, value in enumerate(values)}


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def _settings(row: Row, keys: Sequence[str]) -> str:
    return ", ".join(f"{key} = {_text(row[key])}" for key in keys)


def _table(rows: Sequence[Row], keys: Sequence[str], figures: Sequence[str]) -> Iterator[Markup]:
    found = {name: {row[name] for row in rows if row.get(name) is not None} for name in figures}
    shown = [name for name, values in found.items() if len(values) > 1]
    titles = {name: COLUMNS.get(name, name.replace("_", " ")) for name in figures}
    same = {titles[name]: value for name, values in found.items() if len(values) == 1 for value in values}
    ignores = ["ignores"] * any(row["ignores"] for row in rows)
    cells = [
        [
            element("a", row["id"], href=f"variants/{quote(row['id'])}/"),
            *(_text(row[key]) for key in keys),
            element("span", row["outcome"], class_=_BADGES.get(row["outcome"], "badge bad")),
            *(row[name] or "" for name in ignores),
            *(_figure(name, row.get(name)) for name in shown),
            _figure("seconds", row["seconds"]),
        ]
        for row in rows
    ]
    head = ["id", *keys, "outcome", *ignores, *(titles[name] for name in shown), "time [s]"]
    yield table(head, cells, numeric=len(shown) + 1)
    if same:
        text = "; ".join(f"{title}: {_text(value)}" for title, value in same.items())
        yield element("p", element("small", f"the same in all: {text}"))


def _figure(name: str, value: Any) -> str:
    return figure_text(name, value) if isinstance(value, float) else "" if value is None else str(value)
