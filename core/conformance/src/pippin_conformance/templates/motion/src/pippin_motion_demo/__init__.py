"""A swing that grows, as a motion of Pippin: the settings. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import gt
from pippin.motions import MotionConfig


@attrs.frozen(kw_only=True)
class SwingConfig(MotionConfig):
    """A swing whose amplitude grows: `growth * t * sin(2 * pi * frequency * t)`."""

    implementation = ".motion:MotionDemo"

    growth: float = attrs.field(default=0.1, validator=gt(0.0))
    """Growth of the amplitude [m/s, rad/s, N/s, N·m/s]."""

    frequency: float = attrs.field(default=1.0, validator=gt(0.0))
    """Swings per second [Hz]."""
