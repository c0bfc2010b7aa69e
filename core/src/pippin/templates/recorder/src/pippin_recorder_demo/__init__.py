"""Tables of comma-separated values, as a Pippin recorder: the settings. Imports neither Warp nor Newton."""

import attrs
from pippin.recording import RecorderConfig


@attrs.frozen(kw_only=True)
class DemoConfig(RecorderConfig):
    """A text file with a column for each number, separated by commas."""

    implementation = ".recorder:RecorderDemo"

    digits: int = 6
    """Significant digits of the numbers."""
