"""Actions: numbers that set the targets of actuator groups, or the inputs of the asset's own actuators."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
from pippin import labels
from pippin.errors import ConfigError
from pippin.task.ranges import ordered
from pippin.task.terms import Action
from pippin.validators import in_schema

if TYPE_CHECKING:
    import numpy as np
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["Inputs", "JointEfforts", "JointTargets", "JointVelocityTargets", "Scaled"]


@in_schema()
def _finite(instance: object, attribute: attrs.Attribute[Any], value: float | Mapping[str, float]) -> None:
    for number in value.values() if isinstance(value, Mapping) else [value]:
        if not math.isfinite(number):
            raise ValueError(f"'{attribute.name}' must be finite: {number}")


@attrs.frozen(kw_only=True)
class ScaledConfig:
    """An action of an actuator group: target = offset + scale × clipped number."""

    actuator: str
    """Label of the group."""

    scale: float | Mapping[str, float] = attrs.field(default=1.0, validator=_finite)
    """Factor of the numbers, for all of them or by pattern of names of joints or actuators."""

    clip: tuple[float, float] | None = attrs.field(default=None, validator=ordered)
    """Lowest and highest number; others are clipped, and the action space has these bounds."""


@attrs.frozen(kw_only=True)
class JointTargetsConfig(ScaledConfig):
    """Position targets of an actuator group [rad, m]."""

    offset: Literal["initial", "zero"] = "initial"
    """Position for the number zero: the initial one of each joint, or zero."""


class Scaled(Action):
    """Numbers that are clipped, scaled, added to an offset, and written into an array of a group.

    At a reset, the array gets back what it held when the simulation was built.
    """

    Config: ClassVar[type] = ScaledConfig
    what: ClassVar[str]
    """What it sets, for errors."""
    of_group: ClassVar[str]
    """Name of the group's array."""
    label_kind: ClassVar[str] = "joint"

    def __init__(self, config: Any, context: TermContext) -> None:
        super().__init__(config, context)
        import warp as wp

        self._group = context.actuator(config.actuator)
        targets = getattr(self._group, self.of_group, None)
        if targets is None:
            reason = getattr(self._group, "unread_targets", {}).get(self.of_group)
            why = f" ({reason})" if reason else ""
            raise ConfigError(f"actuator: {config.actuator!r} has no {self.what}{why}; choose a group that has")
        context.claim(self.what, [config.actuator], "actuator")
        self._targets: Any = targets
        self._built: Any = wp.clone(targets)
        self.offsets = self._offsets()
        #: Constant errors of the targets, shape [worlds, width]; zero, unless an event draws them.
        self.errors: Any = wp.zeros_like(targets)
        scales = labels.lookup(config.scale, self.labels, "scale", self.label_kind)
        self._scales = wp.array(list(map(float, scales)), dtype=float, device=context.device)

    @property
    def labels(self) -> Sequence[str]:
        """The joints of the group."""
        return tuple(getattr(self._group, f"{self.label_kind}_labels"))

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The range of `clip`."""
        import numpy as np

        if self.config.clip is None:
            return super().bounds
        low, high = self.config.clip
        return np.full(len(self.labels), low, dtype=np.float32), np.full(len(self.labels), high, dtype=np.float32)

    def apply(self, action: wp.array) -> None:
        """Write the targets."""
        import warp as wp

        from .kernels import set_targets

        bounds = wp.vec2(*((-math.inf, math.inf) if self.config.clip is None else self.config.clip))
        inputs = [action, bounds, self._scales, self.offsets, self.errors, self._targets]
        wp.launch(set_targets, action.shape, inputs, device=action.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Put the targets of the masked worlds back."""
        import warp as wp

        from .kernels import put_back

        wp.launch(put_back, self._targets.shape, [world_mask, self._built, self._targets], device=world_mask.device)

    def _offsets(self) -> wp.array:
        import warp as wp

        return wp.zeros_like(self._targets)


class JointTargets(Scaled):
    """The action `joint-targets`: position targets of an actuator group."""

    Config = JointTargetsConfig
    what, of_group = "position targets", "position_targets"

    def _offsets(self) -> wp.array:
        return self._built if self.config.offset == "initial" else super()._offsets()


class JointVelocityTargets(Scaled):
    """The action `joint-velocity-targets`: velocity targets of an actuator group [rad/s, m/s]."""

    what, of_group = "velocity targets", "velocity_targets"


class JointEfforts(Scaled):
    """The action `joint-efforts`: efforts that an actuator group adds to those of its law [N·m, N]."""

    what, of_group = "feedforward efforts", "feedforward"


class Inputs(Scaled):
    """The action `inputs`: the inputs of the asset's own actuators, in a group of type `control`."""

    what, of_group, label_kind = "inputs", "ctrl", "actuator"
