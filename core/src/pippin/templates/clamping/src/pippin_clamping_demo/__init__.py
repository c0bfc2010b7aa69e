"""A soft limit of effort, as a Pippin clamping. Imports neither Warp nor Newton."""

import attrs
from pippin.actuation import Clamping, Parameter, parameter


@attrs.frozen(kw_only=True)
class DemoConfig:
    """Effort bends towards a limit: τ = `max_effort` tanh(τ / `max_effort`)."""

    max_effort: Parameter = parameter(1e-6)
    """Limit of the effort, approached but never reached [N or N·m], for all joints or by pattern."""


class ClampingDemo(Clamping):
    """The plugin: a clamping with `type = "demo"`, in the list `clamping` of any actuator."""

    Config = DemoConfig

    def build(self, lanes):
        """Return the law, with one value of the limit per degree of freedom."""
        from .limit import SoftLimit

        return SoftLimit(lanes.per_lane(self.config.max_effort, "max_effort", minimum=1e-6))
