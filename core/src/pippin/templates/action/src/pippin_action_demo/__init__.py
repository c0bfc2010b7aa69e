"""Efforts on joints without an actuator, as a term of Pippin's tasks. Imports neither Warp nor Newton."""

import attrs
import numpy as np
from attrs.validators import gt
from pippin.task import Action


@attrs.frozen(kw_only=True)
class EffortsConfig:
    """Numbers from -1 to 1 that are scaled to efforts; others are clipped."""

    joints: tuple[str, ...]
    """Patterns of names of hinges and sliders."""

    scale: float = attrs.field(default=1.0, validator=gt(0.0))
    """Effort of the number 1 [N or N·m]."""


class ActionDemo(Action):
    """The action `demo`."""

    Config = EffortsConfig

    def __init__(self, config, context):
        super().__init__(config, context)
        self._labels, _, self._dofs = context.joints(config.joints)
        context.claim("effort", self._labels, "joints")

    @property
    def labels(self):
        """A name for each number: the joint's."""
        return self._labels

    @property
    def bounds(self):
        """Lowest and highest value of each number."""
        ones = np.ones(len(self.labels), dtype=np.float32)
        return -ones, ones

    def apply(self, action):
        """Write the efforts of the control step that begins."""
        import warp as wp

        from .kernels import set_efforts

        dofs, control = self._dofs, self.context.simulation.control
        wp.launch(set_efforts, dofs.shape, [action, dofs, self.config.scale], [control.joint_f], device=action.device)
