"""Efforts on joints without an actuator, as a term of Pippin's tasks: the settings. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import gt


@attrs.frozen(kw_only=True)
class EffortsConfig:
    """Numbers from -1 to 1 that are scaled to efforts; others are clipped."""

    implementation = ".action:ActionDemo"

    joints: tuple[str, ...]
    """Patterns of names of hinges and sliders."""

    scale: float = attrs.field(default=1.0, validator=gt(0.0))
    """Effort of the number 1 [N or N·m]."""
