"""A barometric altimeter: air pressure at a site, which a sluggish instrument follows."""

import attrs
from attrs.validators import gt
from pippin import sensing


@attrs.frozen(kw_only=True)
class AltimeterConfig(sensing.SiteConfig):
    """A barometer at a site of a body."""

    implementation = ".altimeter:Altimeter"

    time_constant: float = attrs.field(default=0.1, validator=gt(0.0))
    """Time in which the instrument covers 63 % of a jump [s]."""


@attrs.frozen(kw_only=True)
class SaturationConfig(sensing.StageConfig):
    """Nothing above a limit is read."""

    implementation = ".altimeter:Saturation"

    limit: float
    """Largest value [unit of the output]."""
