"""A steady wind, as a Pippin extension: the settings. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import ge


@attrs.frozen(kw_only=True)
class DemoConfig:
    """A drag towards the velocity of the wind: force = `drag` (wind − velocity)."""

    implementation = ".extension:ExtensionDemo"

    bodies: tuple[str, ...] = (".*",)
    """Patterns of the names of the bodies in the wind."""

    wind: tuple[float, float, float] = (1.0, 0.0, 0.0)
    """Velocity of the air in the world [m/s]."""

    drag: float = attrs.field(default=1.0, validator=ge(0.0))
    """Force per difference of the velocities [N·s/m]."""
