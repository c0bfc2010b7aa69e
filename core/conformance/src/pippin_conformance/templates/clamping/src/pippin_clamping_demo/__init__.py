"""A soft limit of effort, as a Pippin clamping: the settings. Imports neither Warp nor Newton."""

import attrs
from pippin.actuation import Parameter, parameter


@attrs.frozen(kw_only=True)
class DemoConfig:
    """Effort bends towards a limit: τ = `max_effort` tanh(τ / `max_effort`)."""

    implementation = ".clamping:ClampingDemo"

    max_effort: Parameter = parameter(minimum=1e-6)
    """Limit of the effort, approached but never reached [N or N·m], for all joints or by pattern."""
