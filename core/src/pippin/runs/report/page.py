"""Page: one HTML file with its style, its script and the data of its charts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .chart import Chart, encoded
from .markup import Markup, element, joined

_HERE = Path(__file__).parent

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
    " img-src 'self' data: file:; media-src 'self' data: file:"
)
"""The browser loads nothing but the videos of the folder."""


class Charts:
    """The charts of a page: each gives its place in the text, and all of them one block of data."""

    def __init__(self) -> None:
        self._packed: list[dict[str, Any]] = []
        self._times: list[str] = []

    def place(self, chart: Chart) -> Markup:
        """Add a chart, and return the figure that it is drawn into."""
        times = encoded(chart.times.astype("<f8"))
        if times not in self._times:
            self._times.append(times)
        self._packed.append({**chart.packed(), "time": self._times.index(times)})
        unit = element("small", f"[{chart.unit}]") if chart.unit else None
        key = element("small", chart.note, class_="key") if chart.note else None
        caption = element("figcaption", chart.title, unit, key)
        return element("figure", caption, data_chart=len(self._packed) - 1, class_="chart")

    def data(self) -> Markup:
        """Return the data of all charts, for the script of the page."""
        data = {"times": self._times, "charts": self._packed}
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return Markup(text.replace("<", "\\u003c"))


def grid(places: Sequence[Markup]) -> Markup:
    """Return charts side by side, if the window is wide enough."""
    return element("div", *places, class_="charts")


def page(title: str, body: Sequence[Markup], charts: Charts) -> str:
    """Return the text of the file."""
    style, script = ((_HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(style)),
    )
    scripts = [
        element("noscript", element("p", "The charts need the script of this page, which the browser does not run.")),
        element("script", charts.data(), type="application/json", id="data"),
        element("script", Markup(script)),
    ]
    return f"<!doctype html>\n{element('html', head, element('body', joined(body), *scripts), lang='en')}\n"
