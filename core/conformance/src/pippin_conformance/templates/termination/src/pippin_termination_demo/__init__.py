"""The end of an episode below a height, as a term of Pippin's tasks: the settings. Imports neither Warp nor Newton."""

import attrs
from pippin_task import TerminationConfig


@attrs.frozen(kw_only=True)
class LowConfig(TerminationConfig):
    """The end of an episode if a body is too low."""

    implementation = ".termination:TerminationDemo"

    height: float
    """Height of the body's origin below which the episode ends [m]."""

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""
