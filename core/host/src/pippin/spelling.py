"""Words of errors and notes: the nearest valid name, and the first of many texts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


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
