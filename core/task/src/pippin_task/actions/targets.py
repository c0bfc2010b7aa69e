"""Actions: numbers that set the targets of actuator groups, or the inputs of the asset's own actuators."""

from __future__ import annotations

import re
from typing import ClassVar

import warp as wp
from pippin import ConfigError, labels

from pippin_task import Action, TermContext

from .configs import JointTargetsConfig, ScaledConfig
from .kernels import read_encoders, set_targets


class Scaled(Action):
    """Numbers that are clipped, scaled, added to an offset, and written into an array of a group.

    A reset restores the array as it was when the simulation was built.
    """

    what: ClassVar[str]
    """What it sets, for errors."""
    of_group: ClassVar[str]
    """Name of the group's array."""
    label_kind: ClassVar[str] = "joint"

    def __init__(self, config: ScaledConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._group = context.actuator(config.actuator)
        targets = getattr(self._group, self.of_group, None)
        if targets is None:
            reason = getattr(self._group, "unread_targets", {}).get(self.of_group)
            why = f" ({reason})" if reason else ""
            raise ConfigError(f"actuator: {config.actuator!r} has no {self.what}{why}; choose a group that has")
        context.claim(self.what, [config.actuator], "actuator")
        for name, controller in context.simulation.controllers.items():
            if len(controller.writes(config.actuator, self.of_group)):
                raise ConfigError(
                    f"actuator: controllers.{name} writes {self.what} of {config.actuator!r}; take an action"
                    ' "tool-goals"'
                )
        self._targets: wp.array = targets
        #: The target of the number zero, shape [worlds, width].
        self.offsets: wp.array = wp.zeros_like(targets)
        #: Constant errors of the targets, shape [worlds, width]; zero, unless an event draws them.
        self.errors: wp.array = wp.zeros_like(targets)
        self.labels = tuple(getattr(self._group, f"{self.label_kind}_labels"))
        scales = labels.lookup(config.scale, self.labels, "scale", self.label_kind)
        self._scales = wp.array(list(map(float, scales)), dtype=float, device=context.device)
        self._clip = config.clip or self._clip

    def apply(self, action: wp.array) -> None:
        """Write the targets."""
        inputs = [action, wp.vec2(*self._clip), self._scales, self.offsets, self.errors]
        inputs += [self.config.smoothing, self._targets]
        wp.launch(set_targets, action.shape, inputs, device=action.device)


class JointTargets(Scaled):
    """The action `joint-targets`: position targets of an actuator group."""

    what, of_group = "position targets", "position_targets"

    def __init__(self, config: JointTargetsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._coordinates: wp.array | None = None
        if config.offset == "initial":
            self.offsets = wp.clone(self._targets)
        if config.offset == "current":
            found, self._coordinates, _ = context.joints([re.escape(label) for label in self.labels])
            if tuple(found) != self.labels:
                raise ConfigError(
                    f"offset: {config.actuator!r} has its joints in an order of its own; choose 'initial'"
                )

    def apply(self, action: wp.array) -> None:
        """Write the targets, by the encoders where they count from the present positions."""
        if self._coordinates is not None:
            inputs = [self.context.simulation.state.joint_q, self._coordinates, self.errors, self.offsets]
            wp.launch(read_encoders, action.shape, inputs, device=action.device)
        super().apply(action)


class JointVelocityTargets(Scaled):
    """The action `joint-velocity-targets`: velocity targets of an actuator group [rad/s, m/s]."""

    what, of_group = "velocity targets", "velocity_targets"


class FeedforwardEfforts(Scaled):
    """The action `joint-efforts`: efforts that an actuator group adds to those of its law [N·m, N]."""

    what, of_group = "feedforward efforts", "feedforward"


class Inputs(Scaled):
    """The action `inputs`: the inputs of the asset's own actuators, in a group of type `control`."""

    what, of_group, label_kind = "inputs", "ctrl", "actuator"
