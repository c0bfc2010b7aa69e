"""Actions: numbers that set the targets of actuator groups, the asset's own inputs, goals of tools, and a gripper."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import warp as wp
from pippin import ConfigError, labels
from pippin.arrays import on_host

from pippin_task import Action, TermContext

from .configs import GripperConfig, JointTargetsConfig, ScaledConfig, ToolGoalsConfig
from .kernels import keep_goals, read_encoders, set_goals, set_gripper, set_targets


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

    def _law(self) -> dict[str, Any]:
        """Return what `apply` does in the first world; `start` has the targets after a reset."""
        rows = {"offset": self.offsets, "start": self._targets}
        numbers = {key: on_host(array)[0].tolist() for key, array in rows.items()}
        bounds = None if self.config.clip is None else list(self.config.clip)
        own = {"scale": on_host(self._scales).tolist(), "clip": bounds, "smoothing": self.config.smoothing}
        whole = {"actuator": self.config.actuator, "target": self.of_group, self.label_kind + "s": list(self.labels)}
        return {"kind": "targets", **whole, **own, **numbers}


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

    def recipe(self) -> dict[str, Any]:
        """Return the law; without an `offset`, the numbers are added to the measured positions."""
        law = self._law()
        return law if self._coordinates is None else law | {"offset": None}


class JointVelocityTargets(Scaled):
    """The action `joint-velocity-targets`: velocity targets of an actuator group [rad/s, m/s]."""

    what, of_group = "velocity targets", "velocity_targets"

    recipe = Scaled._law


class FeedforwardEfforts(Scaled):
    """The action `joint-efforts`: efforts that an actuator group adds to those of its law [N·m, N]."""

    what, of_group = "feedforward efforts", "feedforward"

    recipe = Scaled._law


class Inputs(Scaled):
    """The action `inputs`: the inputs of the asset's own actuators, in a group of type `control`."""

    what, of_group, label_kind = "inputs", "ctrl", "actuator"

    recipe = Scaled._law


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
        self._names = names = list(group.joint_labels)
        rows = [labels.lookup(getattr(config, key), names, key, "joint") for key in ("open", "closed")]
        self._open, self._closed = (wp.array(list(map(float, row)), dtype=float, device=context.device) for row in rows)

    def apply(self, action: wp.array) -> None:
        """Write the targets."""
        inputs = [action, self._open, self._closed, self._targets]
        wp.launch(set_gripper, self._targets.shape, inputs, device=action.device)

    def recipe(self) -> dict[str, Any]:
        """Return both rows of targets."""
        whole = {"actuator": self.config.actuator, "target": "position_targets", "joints": self._names}
        return {"kind": "gripper", **whole, "open": self._open.list(), "closed": self._closed.list()}
