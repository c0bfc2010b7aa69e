"""Pages that show a public name in use, in a block of Python: the examples of the API reference."""

from __future__ import annotations

import os
import re
import runpy
from collections.abc import Mapping
from pathlib import Path

__all__ = ["shown_on"]

PUBLIC = runpy.run_path(str(Path(__file__).parents[1] / "public_names.py"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MOST = 5
"""Pages named for one name: those with the most mentions."""


def shown_on(pages: Mapping[Path, tuple[str, str]]) -> dict[str, str]:
    """Return for each public name a line with links to pages, from the texts of pages and their places in the site."""
    blocks = {place: "\n".join(BLOCK.findall(text)) for text, place in pages.values()}
    titles = {place: re.search(r"^# (.*)$", text, re.MULTILINE) for text, place in pages.values()}
    lines = {}
    for module in (*PUBLIC["FOR_PLUGINS"], *PUBLIC["FOR_USERS"]):
        for name in PUBLIC["names_of"](module):
            counts = {place: _mentions(module, name, text) for place, text in blocks.items()}
            best = sorted((place for place in counts if counts[place]), key=lambda place: (-counts[place], place))[
                :MOST
            ]
            links = [f"[{titles[place][1]}]({os.path.relpath(place, 'api')})" for place in best if titles[place]]
            if links:
                lines[f"{module}.{name}"] = f"Examples: {', '.join(links)}"
    return lines


def _mentions(module: str, name: str, text: str) -> int:
    """Return how often a block imports a name from its module, or writes it with the module's name."""
    imported = re.findall(rf"^ *from {re.escape(module)} import [^\n(]*\b{name}\b", text, re.MULTILINE)
    imported += re.findall(rf"^ *from {re.escape(module)} import \([^)]*\b{name}\b", text, re.MULTILINE)
    uses = len(re.findall(rf"(?<![\w.]){name}\b", text)) if imported else 0
    return uses + len(re.findall(rf"(?<![\w.]){re.escape(module)}\.{name}\b", text))
