"""Arrays of all worlds, from those of the shards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pippin.errors import ConfigError


def concatenate_worlds(name: str, parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the values of all worlds, shape [worlds, …], from those of each shard.

    Raises:
        ConfigError: The worlds of two shards differ.
    """
    first = list(parts[0].shape[1:])
    for index, part in enumerate(parts):
        if list(part.shape[1:]) != first:
            raise ConfigError(
                f"gather: {name!r} has the shape {first} for a world of shard 0 and {list(part.shape[1:])} for one of"
                f" shard {index}, as their worlds differ; read the array of each shard by `call`"
            )
    return np.concatenate(parts)
