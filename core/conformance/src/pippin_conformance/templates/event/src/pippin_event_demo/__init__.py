"""A random spin at the beginning of each episode, as a term of Pippin's tasks: the settings."""

import attrs
from attrs.validators import ge
from pippin_task import EventConfig


@attrs.frozen(kw_only=True)
class SpinConfig(EventConfig):
    """A random rotation about the vertical."""

    implementation = ".event:EventDemo"

    rate: float = attrs.field(validator=ge(0.0))
    """Largest angular velocity that is added [rad/s], to either side."""

    body: str | None = None
    """Pattern of the name of a free body; by default the first body of a world."""
