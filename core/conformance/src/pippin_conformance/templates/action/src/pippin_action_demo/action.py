"""Efforts on joints without an actuator, as a term of Pippin's tasks."""

import numpy as np
import warp as wp
from pippin_task import Action


@wp.kernel
def set_efforts(action: wp.array2d[float], dofs: wp.array2d[int], scale: float, joint_f: wp.array[float]):
    """Effort = scale × number, from -1 to 1."""
    world, joint = wp.tid()
    joint_f[dofs[world, joint]] = scale * wp.clamp(action[world, joint], -1.0, 1.0)


class ActionDemo(Action):
    """The action `demo`."""

    def __init__(self, config, context):
        super().__init__(config, context)
        self.labels, _, self._dofs = context.joints(config.joints)
        context.claim("effort", self.labels, "joints")

    @property
    def bounds(self):
        """Lowest and highest value of each number."""
        ones = np.ones(len(self.labels), dtype=np.float32)
        return -ones, ones

    def apply(self, action):
        """Write the efforts of the control step that begins."""
        dofs, control = self._dofs, self.context.simulation.control
        wp.launch(set_efforts, dofs.shape, [action, dofs, self.config.scale], [control.joint_f], device=action.device)
