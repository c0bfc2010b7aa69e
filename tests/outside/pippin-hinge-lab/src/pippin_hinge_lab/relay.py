"""Newton's interface around the relay in C."""

import numpy as np
from newton.actuators import DriveBase

from . import _core


class DriveRelay(DriveBase):
    """Full effort towards the target, none close to it.

    Args:
        level: Effort when on, shape [degrees of freedom].
        width: Error up to which it is off, likewise.
    """

    def __init__(self, level, width):
        self.level, self.width = level, width

    def is_stateful(self):
        """Tell that nothing is remembered from step to step."""
        return False

    def is_graphable(self):
        """Tell that the law may not be recorded: it runs on the host."""
        return False

    def compute(
        self, q, qd, target, target_qd, feedforward, at_q, at_qd, at_target, at_rate, out, state, dt, device=None
    ):
        """Write the effort of one step [N·m]."""
        error = target.numpy()[at_target.numpy()] - q.numpy()[at_q.numpy()]
        effort = np.empty(len(error), dtype=np.float32)
        _core.switch_on(np.ascontiguousarray(error), self.level.numpy(), self.width.numpy(), effort)
        out.assign(effort)
