"""The nearest valid name, for errors about an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return ` Did you mean 'nearest'?`, to end a sentence with, or nothing where no name is near."""
    near = difflib.get_close_matches(name, sorted(names), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
