"""A soft limit of effort, as a Pippin clamping."""

import warp as wp
from newton.actuators import ClampingBase
from pippin.actuation import Clamping


@wp.kernel
def bend(effort: wp.array[float], max_effort: wp.array[float], limited: wp.array[float]):
    """Limited effort of each degree of freedom, one thread for each; see `DemoConfig` for the formula."""
    i = wp.tid()
    limited[i] = max_effort[i] * wp.tanh(effort[i] / max_effort[i])


class SoftLimit(ClampingBase):
    """Newton's interface around the kernel.

    Args:
        max_effort: Limit, shape [degrees of freedom].
    """

    def __init__(self, max_effort):
        self.max_effort = max_effort

    def modify_forces(self, source, out, q, qd, at_q, at_qd, device=None):
        """Write the limited efforts [N or N·m]; `source` and `out` may be one array."""
        wp.launch(bend, len(source), [source, self.max_effort], [out], device=device)


class ClampingDemo(Clamping):
    """The plugin: a clamping with `type = "demo"`, in the list `clamping` of any actuator."""

    def build(self, lanes):
        """Return the law, with one value of the limit per degree of freedom."""
        return SoftLimit(lanes.per_lane(self.config.max_effort, "max_effort", minimum=1e-6))
