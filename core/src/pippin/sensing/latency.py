"""The stage `latency`: a sensor whose readings arrive late."""

from __future__ import annotations

import warp as wp
from pippin import ConfigError

from .kernels import exchange_readings, forget_readings
from .lanes import OutputLanes
from .stage import Stage
from .stage_configs import LatencyConfig


class Latency(Stage):
    """A ring of the last readings of each world."""

    is_arithmetic = False

    def __init__(self, config: LatencyConfig, lanes: OutputLanes) -> None:
        super().__init__(config, lanes)
        self._delay = _readings(config, lanes.interval)
        self.ring = wp.zeros((self._delay + 1, *lanes.shape), dtype=float, device=lanes.device)
        self.written = wp.zeros(lanes.shape, dtype=int, device=lanes.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Forget the readings."""
        self.lanes.launch(forget_readings, world_mask, self.written)

    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Keep the values, and give those of an earlier reading."""
        self.lanes.launch(exchange_readings, world_mask, self._delay, self.written, self.ring, values)


def _readings(config: LatencyConfig, interval: float) -> int:
    """Return the delay in readings.

    Raises:
        ConfigError: The time is not a whole number of periods.
    """
    if config.time is None:
        return config.readings or 0
    count = round(config.time / interval)
    if count < 1 or abs(count * interval - config.time) > 1e-6 * config.time:
        raise ConfigError(
            f"time: {config.time:g} s is not a whole multiple of the sensor's period of {interval:g} s; write"
            f" {max(count, 1) * interval:g}, or change the sensor's period"
        )
    return count
