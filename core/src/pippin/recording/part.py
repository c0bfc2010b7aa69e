"""Part: the place of a recording in a larger one, if several processes simulate the worlds of one run."""

from __future__ import annotations

import attrs
from pippin.config import SimulationConfig

__all__ = ["Part"]


@attrs.frozen(kw_only=True, eq=False)
class Part:
    """Facts of the whole run that the recorder of a shard needs."""

    config: SimulationConfig
    """Configuration of the run."""

    worlds: tuple[int, ...]
    """The recorded worlds of the run, in the order of the recording."""

    first_world: int
    """Number, in the run, of the first world of the shard."""
