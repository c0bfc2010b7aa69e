"""Winds, a kind of plugins of its own, and the table `[air]`: the settings. Imports neither Warp nor Newton."""

import attrs
from pippin.validators import finite, non_negative, positive


@attrs.frozen(kw_only=True)
class AirConfig:
    """The air in which the winds blow."""

    implementation = ".wind:Air"

    density: float = attrs.field(default=1.2, validator=positive)
    """Density in each world at the start [kg/m³]."""


@attrs.frozen(kw_only=True)
class WindConfig:
    """What each wind has: whom it pushes, and how fast it is."""

    bodies: tuple[str, ...] = (".*",)
    """Patterns of the names of the bodies in the wind."""

    velocity: tuple[float, float, float]
    """Velocity of the air at the start of an episode [m/s]."""

    area: float = attrs.field(default=1.0, validator=non_negative)
    """Drag coefficient times cross-section of each body [m²]."""


@attrs.frozen(kw_only=True)
class SteadyConfig(WindConfig):
    """A wind that does not change."""

    implementation = ".wind:Steady"


@attrs.frozen(kw_only=True)
class GustyConfig(WindConfig):
    """A wind that swells and drops as a sine: velocity · (1 + strength sin(2 π frequency t))."""

    implementation = ".wind:Gusty"

    strength: float = attrs.field(default=0.5, validator=non_negative)
    """Largest change of the speed, as a share of it."""

    frequency: float = attrs.field(default=0.2, validator=finite)
    """Gusts per second [Hz]."""
