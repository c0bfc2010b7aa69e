"""Keys of configuration files as entries of the index, which the search shows first."""

from __future__ import annotations

import re

__all__ = ["indexed"]

TABLE = re.compile(r"^\| key \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", re.MULTILINE)


def indexed(text: str) -> str:
    """Return the page of the configuration with an index entry for each key, in front of the first table that has it.

    The search shows a page once for each entry, always by the same title.
    """
    known: set[str] = set()

    def entries(table: re.Match[str]) -> str:
        keys = [key for key in re.findall(r"^\| `(\w+)` \|", table[1], re.MULTILINE) if key not in known]
        known.update(keys)
        return f"```{{index}} {', '.join(f'! {key}' for key in keys)}\n```\n\n{table[0]}" if keys else table[0]

    return TABLE.sub(entries, text)
