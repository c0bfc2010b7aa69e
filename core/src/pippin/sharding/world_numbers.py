"""Numbers of worlds in texts: a shard counts its worlds from 0, and users know the numbers in the run."""

from __future__ import annotations

import re

_WORLDS = re.compile(r"\bworlds? \d+(?::\d+)?(?:, \d+(?::\d+)?)*\b")
_NUMBER = re.compile(r"\d+")


def renumber_worlds(text: str, first: int) -> str:
    """Return a text of a shard with the numbers that worlds have in the run: in `world 3` and `worlds 0:2, 4`.

    Args:
        text: The text of a shard.
        first: Number of its first world.
    """
    return _WORLDS.sub(lambda found: _NUMBER.sub(lambda number: str(int(number[0]) + first), found[0]), text)
