"""The whole run of a recorder that records one of its shards."""

from __future__ import annotations

import attrs
from pippin.config import SimulationConfig


@attrs.frozen(kw_only=True, eq=False)
class WholeRun:
    """The run, if several processes simulate its worlds: facts that the recorder of a shard needs."""

    config: SimulationConfig
    """Configuration of the run."""

    worlds: tuple[int, ...]
    """The recorded worlds of the run, in the order of the recording."""

    first_world: int
    """Number, in the run, of the first world of the shard."""
