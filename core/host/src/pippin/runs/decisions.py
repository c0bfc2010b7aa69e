"""Decision of a run before anything is built: what is recorded by default."""

from __future__ import annotations

from pippin.config import SimulationConfig
from pippin.errors import ConfigError


def recorded_by_default(config: SimulationConfig, record_worlds: int | None) -> int:
    """Return how many worlds the default recorder records; 0 if the file has recorders of its own."""
    if not config.recorders:
        return min(1 if record_worlds is None else record_worlds, config.scene.worlds)
    if record_worlds is not None:
        label = next(iter(config.recorders))
        raise ConfigError(f"record_worlds: the file has recorders of its own; set recorders.{label}.worlds instead")
    return 0
