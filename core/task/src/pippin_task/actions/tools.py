"""Actions of tools: numbers that move the goals of a controller, and one that opens and closes a gripper."""

from __future__ import annotations

import warp as wp
from pippin import ConfigError, labels

from pippin_task import Action, TermContext

from .configs import GripperConfig, ToolGoalsConfig
from .kernels import keep_goals, set_goals, set_gripper

_AXES = ("x", "y", "z", "about_x", "about_y", "about_z")


class ToolGoals(Action):
    """The action `tool-goals`: steps of the goals of a controller, or their distance from the start."""

    def __init__(self, config: ToolGoalsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._controller = context.controller(config.controller)
        context.claim("goals", [config.controller], "controller")
        self._goals: wp.array = self._controller.goals
        self._starts: wp.array = wp.clone(self._goals)
        self._width = 6 if config.rotation_scale else 3
        self._clip = config.clip or self._clip
        names = (name.rpartition("/")[2] for name in self._controller.tool_labels)
        self.labels = tuple(f"{name}.{axis}" for name in names for axis in _AXES[: self._width])

    def apply(self, action: wp.array) -> None:
        """Write the goals."""
        config = self.config
        scales = wp.vec2(config.scale, config.rotation_scale)
        inputs = [action, wp.vec2(*self._clip), scales, self._width, self.references, self._goals]
        wp.launch(set_goals, self._goals.shape, inputs, device=action.device)

    @property
    def references(self) -> wp.array:
        """What the numbers of the next action are added to, of the shape of the controller's goals."""
        return self._goals if self.config.reference == "goal" else self._starts

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Keep the goals after the reset."""
        inputs = [world_mask, self._goals, self._starts]
        wp.launch(keep_goals, self._goals.shape, inputs, device=self._goals.device)


class Gripper(Action):
    """The action `gripper`: open above zero, else closed."""

    labels = ("open",)

    def __init__(self, config: GripperConfig, context: TermContext) -> None:
        super().__init__(config, context)
        group = context.actuator(config.actuator)
        context.claim("position targets", [config.actuator], "actuator")
        try:
            self._targets: wp.array = group.position_targets
        except AttributeError as error:
            raise ConfigError(
                f"actuator: {config.actuator!r} has no position targets ({error}); choose another"
            ) from error
        names = tuple(group.joint_labels)
        self._open, self._closed = (
            wp.array(
                [float(each) for each in labels.lookup(values, names, key, "joint")], dtype=float, device=context.device
            )
            for key, values in (("open", config.open), ("closed", config.closed))
        )

    def apply(self, action: wp.array) -> None:
        """Write the targets."""
        inputs = [action, self._open, self._closed, self._targets]
        wp.launch(set_gripper, self._targets.shape, inputs, device=action.device)
