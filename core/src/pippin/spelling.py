"""The nearest valid name, for errors about an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'NAME'?` to end an error with, or an empty string if no known name is close."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1)
    return f"; did you mean {by_folded[near[0]]!r}?" if near else ""
