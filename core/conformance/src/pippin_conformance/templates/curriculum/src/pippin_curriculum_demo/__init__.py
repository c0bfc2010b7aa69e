"""A range that widens, as a curriculum of Pippin's tasks: the settings. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import ge, gt


@attrs.frozen(kw_only=True)
class WiderConfig:
    """A range of a velocity command that widens with the episodes that have ended."""

    implementation = ".curriculum:CurriculumDemo"

    command: str
    """Label of the command."""

    widest: float = attrs.field(default=1.0, validator=gt(0.0))
    """Speed up to which the range widens, forward and backward [m/s]."""

    episodes: int = attrs.field(default=100, validator=ge(1))
    """Number of episodes of all worlds after which it is reached."""
