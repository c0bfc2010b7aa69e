"""Videos of a run folder: played on its page."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from .markup import Markup, element

_TYPES = {".mp4": "video/mp4", ".webm": "video/webm", ".gif": "image/gif"}

_EMBEDDED_MAX = 5_000_000
"""Largest video that becomes a part of the page [bytes]; a larger one stays a file beside it."""


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
