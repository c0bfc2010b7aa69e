"""Public names in use: the example of an entry of the API reference, and links to pages that use the name, too."""

from __future__ import annotations

import os
import re
import runpy
from collections.abc import Mapping
from pathlib import Path

from examples import BLOCK, Example, examples_of

__all__ = ["example_of_each", "shown_on"]

PUBLIC = runpy.run_path(str(Path(__file__).parents[1] / "public_names.py"))
NAMES = [
    (module, name) for module in (*PUBLIC["FOR_PLUGINS"], *PUBLIC["FOR_USERS"]) for name in PUBLIC["names_of"](module)
]
MOST = 5
"""Further pages named for one name: those with the most mentions."""

Pages = Mapping[Path, tuple[str, str]]
"""Texts of pages and scripts, and their places in the site."""


def example_of_each(pages: Pages) -> dict[str, Example]:
    """Return the example of each public name that has one.

    A function whose docstring says that another one has the same arguments shares the example of that one.
    """
    found = examples_of({f"{module}.{name}" for module, name in NAMES}, (_blocks(*each) for each in pages.items()))
    for module, name in NAMES:
        other = re.search(r"(?:are those of|otherwise as) `(\w+)`", PUBLIC["text_of"](module, name) or "")
        if other and f"{module}.{name}" not in found and f"{module}.{other[1]}" in found:
            found[f"{module}.{name}"] = found[f"{module}.{other[1]}"]
    return found


def shown_on(pages: Pages) -> dict[str, str]:
    """Return for each public name its example, and a line with links to other pages that use it."""
    examples = example_of_each(pages)
    titles = {place: _title(path, text) for path, (text, place) in pages.items()}
    blocks = {place: "\n".join(_blocks(path, (text, place))[0]) for path, (text, place) in pages.items()}
    shown = {}
    for module, name in NAMES:
        example = examples.get(f"{module}.{name}")
        counts = {place: _mentions(module, name, text) for place, text in blocks.items()}
        others = [place for place in counts if counts[place] and not (example and place == example.place)]
        best = sorted(others, key=lambda place: (-counts[place], place))[:MOST]
        links = [_link(titles, place) for place in best]
        parts = [f"{_head(titles, example.place)}\n\n```python\n{example.text}\n```"] if example else []
        parts += [f"Also used in {', '.join(links)}."] if links else []
        shown[f"{module}.{name}"] = "\n\n".join(parts)
    return shown


def _blocks(path: Path, page: tuple[str, str]) -> tuple[list[str], str]:
    """Return the blocks of Python of a page, or the whole of a script; and its place."""
    text, place = page
    return [text] if path.suffix == ".py" else BLOCK.findall(text), place


def _title(path: Path, text: str) -> str:
    found = re.search(r"^# (.*)$", text, re.MULTILINE)
    return f"`{path.name}`" if path.suffix == ".py" or not found else found[1]


def _head(titles: Mapping[str, str], place: str) -> str:
    if place.startswith("reference/examples/"):
        return f"[Example]({os.path.relpath(place, 'api')}):"
    return f"Example, from {_link(titles, place)}:"


def _link(titles: Mapping[str, str], place: str) -> str:
    return f"[{titles[place]}]({os.path.relpath(place, 'api')})"


def _mentions(module: str, name: str, text: str) -> int:
    """Return how often a block imports a name from its module, or writes it with the module's name."""
    imported = re.findall(rf"^ *from {re.escape(module)} import [^\n(]*\b{name}\b", text, re.MULTILINE)
    imported += re.findall(rf"^ *from {re.escape(module)} import \([^)]*\b{name}\b", text, re.MULTILINE)
    uses = len(re.findall(rf"(?<![\w.]){name}\b", text)) if imported else 0
    return uses + len(re.findall(rf"(?<![\w.]){re.escape(module)}\.{name}\b", text))
