"""The largest height of an episode, as a metric of Pippin's tasks: the settings. Imports neither Warp nor Newton."""

import attrs


@attrs.frozen(kw_only=True)
class HighestConfig:
    """The largest height of a body in an episode."""

    implementation = ".metric:MetricDemo"

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""
