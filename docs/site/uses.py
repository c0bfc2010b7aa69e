"""Public names in use: the pages and scripts whose Python uses a name, linked from its entry in the API reference."""

from __future__ import annotations

import ast
import os
import re
import runpy
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["linked_uses", "names_used_in", "uses"]

PUBLIC = runpy.run_path(str(Path(__file__).parents[1] / "public_names.py"))
NAMES = {
    f"{module}.{name}": (module, name)
    for module in (*PUBLIC["FOR_PLUGINS"], *PUBLIC["FOR_USERS"])
    for name in PUBLIC["names_of"](module)
}
LINK_COUNT = 5
"""Largest number of pages that are named for one name: those with the most mentions."""

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

Pages = Mapping[Path, tuple[str, str]]
"""Texts of pages and scripts, and their places in the site."""


def uses(pages: Pages) -> dict[str, Counter[str]]:
    """Return for each public name how often each place uses it.

    A function whose docstring says that another one has the same arguments shares the uses of that one.
    """
    found = {name: Counter[str]() for name in NAMES}
    for path, (text, place) in pages.items():
        for name, count in names_used_in(text if path.suffix == ".py" else "\n".join(BLOCK.findall(text))).items():
            if name in found:
                found[name][place] += count
    for full, (module, name) in NAMES.items():
        other = re.search(r"(?:are those of|otherwise as) `(\w+)`", PUBLIC["text_of"](module, name) or "")
        if other and not found[full]:
            found[full] = found.get(f"{module}.{other[1]}", Counter())
    return found


def linked_uses(pages: Pages) -> dict[str, str]:
    """Return for each public name a line with links to the places that use it most."""
    titles = {place: _title(path, text) for path, (text, place) in pages.items()}
    lines = {}
    for name, counts in uses(pages).items():
        best = sorted(counts, key=lambda place: (-counts[place], place))[:LINK_COUNT]
        links = [f"[{titles[place]}]({os.path.relpath(place, 'api')})" for place in best]
        lines[name] = f"Examples: {', '.join(links)}." if links else ""
    return lines


def names_used_in(code: str) -> Counter[str]:
    """Return the full names, such as `pippin.labels.match`, that code reads through its imports."""
    imported: dict[str, str] = {}
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            imported |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Import):
            imported |= {each.asname or each.name.partition(".")[0]: each.name for each in node.names if each.asname}
    return Counter(f"{imported.get(head, head)}{rest}" for head, rest in _chains(tree))


def _chains(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the first name of each chain `a.b.c`, and the rest with its dots."""
    for node in ast.walk(tree):
        rest = ""
        while isinstance(node, ast.Attribute):
            node, rest = node.value, f".{node.attr}{rest}"
        if isinstance(node, ast.Name):
            yield node.id, rest


def _title(path: Path, text: str) -> str:
    found = re.search(r"^# (.*)$", text, re.MULTILINE)
    return f"`{path.name}`" if path.suffix == ".py" or not found else found[1]
