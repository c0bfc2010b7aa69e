"""Settings of stages, which change the clean values of sensors before they are read.

Other packages register their own stages in the group of entry points `pippin.stages`.
"""

from __future__ import annotations

import attrs
from attrs.validators import ge, optional
from pippin.sensing import StageConfig
from pippin.validators import finite, kept_readings, non_negative, positive


@attrs.frozen(kw_only=True)
class NoiseConfig(StageConfig):
    """White noise: each reading has an error drawn anew from a normal distribution."""

    implementation = ".errors:Noise"

    std: float = attrs.field(validator=non_negative)
    """Standard deviation [unit of the output]."""


@attrs.frozen(kw_only=True)
class BiasConfig(StageConfig):
    """A constant error: the same in each reading of an episode, drawn anew for each number when a world is reset."""

    implementation = ".errors:Bias"

    mean: float = attrs.field(default=0.0, validator=finite)
    """Mean of the distribution [unit of the output]."""

    std: float = attrs.field(default=0.0, validator=non_negative)
    """Standard deviation [unit of the output]; if it is zero, the error is `mean`."""


@attrs.frozen(kw_only=True)
class DriftConfig(StageConfig):
    """An error that wanders: zero after a reset, then a random walk, which may decay towards zero.

    Over a time t its variance grows to `rate`² t; with a time constant τ it tends to `rate`² τ / 2
    (a Gauss-Markov process).
    """

    implementation = ".errors:Drift"

    rate: float = attrs.field(validator=non_negative)
    """Standard deviation after one second of a random walk [unit of the output / √s]."""

    time_constant: float | None = attrs.field(default=None, validator=optional(positive))
    """Time in which an error decays to 1/e [s]; by default errors do not decay."""


@attrs.frozen(kw_only=True)
class QuantisationConfig(StageConfig):
    """Finite resolution: each value is rounded to the nearest whole multiple of a step."""

    implementation = ".errors:Quantisation"

    step: float = attrs.field(validator=positive)
    """Resolution [unit of the output]."""


@attrs.frozen(kw_only=True)
class LatencyConfig(StageConfig):
    """A delay: each reading arrives some readings later. Until then, the first one since the last reset is read.

    Give either `readings` or `time`.
    """

    implementation = ".errors:Latency"

    readings: int | None = attrs.field(default=None, validator=optional([ge(1), kept_readings]))
    """Delay in readings."""

    time: float | None = attrs.field(default=None, validator=optional(positive))
    """Delay [s], a whole number of the sensor's periods."""

    def __attrs_post_init__(self) -> None:
        if (self.readings is None) == (self.time is None):
            raise ValueError(f"'readings' or 'time' must be given, got {'none' if self.time is None else 'both'}")
