"""The stage `latency`: a sensor whose readings arrive late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from attrs.validators import ge, optional
from pippin.errors import ConfigError
from pippin.validators import positive

from .stages import Stage, StageConfig

if TYPE_CHECKING:
    import warp as wp

    from .lanes import OutputLanes

__all__ = ["Latency", "LatencyConfig"]


@attrs.frozen(kw_only=True)
class LatencyConfig(StageConfig):
    """A delay: each reading arrives some readings later. Until then, the first one since the last reset is read.

    Give either `readings` or `time`.
    """

    readings: int | None = attrs.field(default=None, validator=optional(ge(1)))
    """Delay in readings."""

    time: float | None = attrs.field(default=None, validator=optional(positive))
    """Delay [s], a whole number of the sensor's periods."""

    def __attrs_post_init__(self) -> None:
        if (self.readings is None) == (self.time is None):
            raise ValueError(f"'readings' or 'time' must be given, got {'none' if self.time is None else 'both'}")


class Latency(Stage):
    """A ring of the last readings of each world."""

    Config = LatencyConfig
    is_arithmetic = False

    def __init__(self, config: Any, lanes: OutputLanes) -> None:
        super().__init__(config, lanes)
        self._delay = _readings(config, lanes.interval)
        import warp as wp

        self.ring = wp.zeros((self._delay + 1, *lanes.shape), dtype=float, device=lanes.device)
        self.written = wp.zeros(lanes.shape, dtype=int, device=lanes.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Forget the readings."""
        from .kernels import forget_readings

        self.lanes.launch(forget_readings, world_mask, self.written)

    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Keep the values, and give those of an earlier reading."""
        from .kernels import exchange_readings

        self.lanes.launch(exchange_readings, world_mask, self._delay, self.written, self.ring, values)


def _readings(config: LatencyConfig, interval: float) -> int:
    """Return the delay in readings.

    Raises:
        ConfigError: The time is no whole number of periods.
    """
    if config.time is None:
        return config.readings or 0
    count = round(config.time / interval)
    if count < 1 or abs(count * interval - config.time) > 1e-6 * config.time:
        raise ConfigError(
            f"time: {config.time:g} s is no whole number of the sensor's periods of {interval:g} s; write"
            f" {max(count, 1) * interval:g}, or change the sensor's period"
        )
    return count
