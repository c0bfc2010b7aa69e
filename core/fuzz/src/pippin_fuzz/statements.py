"""Words of statements that are drawn, and the features of solvers that they need."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from pippin.solving import FEATURES

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

WORDS: Mapping[str, Sequence[str]] = _TABLE["features"]
"""Words of the statements that need a feature, by its name."""


def unclaimed(features: Collection[str]) -> frozenset[str]:
    """Return the words of the statements that need a feature other than some."""
    return frozenset(word for name, words in WORDS.items() if name not in features for word in words)


def words_in(text: str, without: Collection[str] = ()) -> frozenset[str]:
    """Return the words of the statements that a note or a fault is about, other than those that are left out already.

    Args:
        text: The note or the fault.
        without: Words that are left out. If these are all that the text names, the statements beside them are meant.
    """
    named = [name for name in FEATURES if name in WORDS and re.search(rf"\b{name}\b", text)]
    found = {word for name in named for word in WORDS[name]} - set(without)
    if not found:
        found |= {word for pattern, words in _TABLE["named"].items() if re.search(pattern, text) for word in words}
    return frozenset(found - set(without))
