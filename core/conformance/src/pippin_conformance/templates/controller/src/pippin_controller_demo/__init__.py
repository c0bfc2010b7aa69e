"""A controller that follows a goal along an axis, for Pippin: the settings. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import gt
from pippin.controllers import ControllerConfig


@attrs.frozen(kw_only=True)
class DemoConfig(ControllerConfig):
    """Slides follow the goal of their tool along x: the distance decays as exp(-`rate` t)."""

    implementation = ".controller:ControllerDemo"

    rate: float = attrs.field(default=5.0, validator=gt(0.0))
    """Rate at which the distance decays [1/s]."""
