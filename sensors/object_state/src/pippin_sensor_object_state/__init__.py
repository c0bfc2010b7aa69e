"""Place, extent and velocity of matter and bodies, as a Pippin sensor."""

from __future__ import annotations

import attrs
from pippin import sensing
from pippin.motions import SelectionConfig

__all__ = ["ObjectStateConfig"]


@attrs.frozen(kw_only=True)
class ObjectStateConfig(sensing.SensorConfig):
    """Position, extent and velocity of some particles or bodies together."""

    implementation = ".sensor:SensorObjectState"

    particles: SelectionConfig | None = None
    """Particles of objects, such as `{ of = "flag", edge = "right" }`."""

    bodies: SelectionConfig | None = None
    """Bodies, such as those of a cable, in place of `particles`."""

    box: tuple[tuple[float, float, float], tuple[float, float, float]] | None = None
    """Lowest and highest coordinates of a box in the world [m]: the output `inside` is the share in it."""

    def __attrs_post_init__(self) -> None:
        if (self.particles is None) == (self.bodies is None):
            given = "none" if self.particles is None else "both"
            raise ValueError(f"exactly one of particles, bodies must be given: {given}")
        if self.box is not None and any(low >= high for low, high in zip(*self.box, strict=True)):
            raise ValueError(f"'box' must have its lowest coordinates first, below the highest ones: {self.box}")
