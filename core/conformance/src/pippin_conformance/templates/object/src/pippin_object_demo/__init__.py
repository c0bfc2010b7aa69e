"""Dumbbells, as objects of Pippin: the settings. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import gt
from pippin.objects import ObjectConfig


@attrs.frozen(kw_only=True)
class DumbbellConfig(ObjectConfig):
    """Two balls on a bar along x."""

    implementation = ".object:ObjectDemo"

    length: float = attrs.field(default=0.4, validator=gt(0.0))
    """Distance of the centres of the balls [m]."""

    radius: float = attrs.field(default=0.1, validator=gt(0.0))
    """Radius of the balls [m]."""
