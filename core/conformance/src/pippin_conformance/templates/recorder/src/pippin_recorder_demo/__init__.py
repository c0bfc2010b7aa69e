"""Tables of comma-separated values, as a Pippin recorder: the settings. Imports neither Warp nor Newton."""

import attrs
from pippin.recording import RecorderConfig


@attrs.frozen(kw_only=True)
class DemoConfig(RecorderConfig):
    """A text file with a column for each number, separated by commas."""

    implementation = ".recorder:RecorderDemo"

    digits: int = 17
    """Significant digits of the numbers; 17 keep every bit."""


@attrs.frozen(kw_only=True)
class DemoReaderConfig:
    """Files that end with `.demo`, read back by `pippin view`, `pippin.Run` and others."""

    implementation = ".recorder:ReaderDemo"
