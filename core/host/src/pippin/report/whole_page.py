"""Page: one HTML file with its style, its script and the data of its charts."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from .chart import Chart
from .markup import Markup, element, joined

_HERE = Path(__file__).parent

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
    " img-src 'self' data: file:; media-src 'self' data: file:"
)
"""The browser loads nothing but the videos of the folder."""


_TYPES = {".mp4": "video/mp4", ".webm": "video/webm", ".gif": "image/gif"}

_EMBEDDED_MAX = 5_000_000
"""Largest video that becomes a part of the page [bytes]; a larger one stays a file beside it."""


def page(title: str, body: Iterable[object]) -> str:
    """Return the text of a page, one file that opens in any browser without a network.

    Args:
        title: The title of its window.
        body: What it shows: `heading`, `section` and other markup.
    """
    content = joined(body)
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
        element("script", _data(content.charts), type="application/json", id="data"),
        element("script", Markup(script)),
    ]
    return f"<!doctype html>\n{element('html', head, element('body', content, *scripts), lang='en')}\n"


def _data(charts: Iterable[Chart]) -> Markup:
    """Return the data of charts, in their order, for the script of the page; each series of times is there once."""
    times: dict[str, int] = {}
    packed = [{**each.packed(), "time": times.setdefault(each.packed_times(), len(times))} for each in charts]
    text = json.dumps({"times": [*times], "charts": packed}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))


def videos(folder: Path, caption: str = "", place: str = "") -> Iterator[Markup]:
    """Yield a figure for each video in a folder, by name.

    Args:
        folder: The folder.
        caption: The text below each; by default its name.
        place: The path from the page to another folder, whose videos do not become a part of the page.
    """
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix.lower() in _TYPES and path.is_file() and path.stat().st_size:
            yield element("figure", _player(path, place), element("figcaption", caption or path.name), class_="video")


def _player(path: Path, place: str) -> Markup:
    source, kind = quote(f"{place}{path.name}"), _TYPES[path.suffix.lower()]
    if not place and path.stat().st_size <= _EMBEDDED_MAX:
        source = f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"
    if kind.startswith("image"):
        return element("img", src=source, alt=f"video of the run, {path.name}")
    return element("video", src=source, controls=True, loop=True, muted=True, playsinline=True, preload="metadata")
