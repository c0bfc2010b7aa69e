"""Words of errors and notes: the nearest valid name, and the first of many texts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that command a terminal, reorder a line or end it, and halves of characters, which nothing can write."""


def printable(text: str) -> str:
    """Return a text, such as the name of a file or of a joint, on one line and without control characters.

    Args:
        text: The text; each control character becomes a space, and a byte that is not UTF-8 a question mark.
    """
    return _UNPRINTABLE.sub(lambda found: "?" if found[0] >= "\ud800" else " ", text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'NAME'?` to end an error with, or an empty string if no known name is close."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1)
    return f"; did you mean {by_folded[near[0]]!r}?" if near else ""


def listed(texts: Iterable[str], limit: int = 3) -> str:
    """Return the first of many texts, each once, and the number of the others: worlds repeat labels."""
    unique = list(dict.fromkeys(texts))
    more = f" and {len(unique) - limit} more" if len(unique) > limit else ""
    return ", ".join(unique[:limit]) + more
