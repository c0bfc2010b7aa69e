"""Pages that lead to pages: one for each section of docs/README.md, with its groups."""

from __future__ import annotations

import re

__all__ = ["navigation"]

SECTIONS = {"Tutorials": "tutorials", "How-to guides": "how-to", "Reference": "reference", "Explanation": "explanation"}
"""Folder of each section."""


def navigation(text: str) -> dict[str, str]:
    """Return a page for each section of the list of pages; links start from the list's own place."""
    pages: dict[str, str] = {}
    parts = re.split(r"^\*\*([\w -]+)\*\*: (.*)$", text, flags=re.MULTILINE)
    found = dict(zip(parts[1::3], zip(parts[2::3], parts[3::3], strict=True), strict=True))
    if list(found) != list(SECTIONS):
        raise ValueError(f"docs/README.md: the sections are {list(found)}; the site knows {list(SECTIONS)}")
    for name, (lead, body) in found.items():
        pages |= _section(name, lead, body)
    return pages


def _section(name: str, lead: str, body: str) -> dict[str, str]:
    folder = SECTIONS[name]
    body = body.split("\n\nThe [examples]")[0]
    groups = re.split(r"^\*([\w ,-]+)\*$", body, flags=re.MULTILINE)
    page = f"# {name}\n\n{lead[:1].upper()}{lead[1:]}\n{groups[0]}"
    entries = _targets(groups[0], folder)
    pages = {}
    for title, items in zip(groups[1::2], groups[2::2], strict=True):
        slug = re.sub(r"\W+", "-", title.lower())
        page += f"\n## {title}\n{items}"
        entries.append(f"groups/{slug}")
        targets = _targets(items, folder)
        pages[f"{folder}/groups/{slug}.md"] = f"# {title}\n{items}{_toctree(['../' + each for each in targets])}"
    return {f"{folder}/index.md": page + _toctree(entries), **pages}


def _targets(items: str, folder: str) -> list[str]:
    """Return the pages that a list links to, without suffix, relative to the section's folder; each once."""
    found = re.findall(rf"\]\({folder}/([^)#]+)\.md\)", items)
    return list(dict.fromkeys(found))


def _toctree(entries: list[str]) -> str:
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(entries) + "\n```\n"
