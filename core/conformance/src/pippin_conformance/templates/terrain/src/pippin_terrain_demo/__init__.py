"""Ridges, as patches of Pippin's terrain: the settings. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import deep_iterable, ge, gt
from pippin.terrains import PatchConfig


@attrs.frozen(kw_only=True)
class RidgesConfig(PatchConfig):
    """Ridges along y."""

    implementation = ".terrain:TerrainDemo"

    height: tuple[float, float] = attrs.field(default=(0.05, 0.3), validator=deep_iterable(ge(0.0)))
    """Height of the ridges on the easiest patch and on the hardest [m]."""

    distance: float = attrs.field(default=1.0, validator=gt(0.0))
    """Distance of neighbouring ridges [m]."""
