"""A wind that grows, for Pippin: the settings. Imports neither Warp nor Newton."""

import attrs
from pippin.validators import non_negative
from pippin_wind import WindConfig


@attrs.frozen(kw_only=True)
class DemoConfig(WindConfig):
    """A wind that grows: velocity · (1 + growth t)."""

    implementation = ".wind:WindDemo"

    growth: float = attrs.field(default=1.0, validator=non_negative)
    """Growth of the speed per second, as a share of the first one [1/s]."""
