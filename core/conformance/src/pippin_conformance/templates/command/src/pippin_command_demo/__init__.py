"""A height to follow, as a term of Pippin's tasks: the settings. Imports neither Warp nor Newton."""

import attrs
from pippin_task import CommandConfig


@attrs.frozen(kw_only=True)
class HeightConfig(CommandConfig):
    """A target height of a body."""

    implementation = ".command:CommandDemo"

    low: float
    """Lowest height [m]."""

    high: float = attrs.field()
    """Highest height [m]."""

    @high.validator
    def _is_a_range(self, attribute, value):
        if value < self.low:
            raise ValueError(f"'high' must be at least 'low' ({self.low:g}): {value:g}")
