"""`llms.txt` and `llms-full.txt`: the list of pages and all their texts, for programs that read language."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["full_text", "list_of_pages"]

SECTION = re.compile(r"^\*\*([\w -]+)\*\*: (.*)$", re.MULTILINE)
ENTRY = re.compile(
    r"\[([^\]]+)\]\(((?:tutorials|how-to|reference|explanation)/[^)#]+)\.md\)(?:: ((?:.+)(?:\n  \S.*)*))?"
)
"""A page of a list, and what is said of it, which may go on in an indented line."""


def list_of_pages(index: str, lead: str) -> str:
    """Return `llms.txt`: a title, a quoted lead, and a list of links below each section of docs/README.md.

    Args:
        index: The text of docs/README.md.
        lead: The first paragraph of the README.
    """
    parts = SECTION.split(index)
    lines = ["# Pippin", "", f"> {' '.join(lead.split())}"]
    for name, about, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        lines += ["", f"## {name}", "", about[:1].upper() + about[1:], ""]
        known = set()
        for title, place, text in ENTRY.findall(body):
            if place not in known:
                known.add(place)
                lines.append(f"- [{title}]({place}.html)" + (f": {' '.join(text.split())}" if text else ""))
    return "\n".join(lines) + "\n"


def full_text(index: str, pages: Mapping[str, str]) -> str:
    """Return `llms-full.txt`: the Markdown of each page of docs/README.md in its order, with its place.

    Args:
        index: The text of docs/README.md.
        pages: The text of each page by its path in docs/, such as `how-to/sweep.md`.
    """
    places = dict.fromkeys(f"{place}.md" for _, place, _ in ENTRY.findall(index))
    return "\n".join(f"<!-- {place} -->\n\n{pages[place].strip()}\n" for place in places)
