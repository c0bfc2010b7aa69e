"""Actions: numbers that set the targets of actuator groups, or the inputs of the asset's own actuators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
from pippin.errors import ConfigError
from pippin.validators import finite

from .terms import Action

if TYPE_CHECKING:
    import numpy as np
    import warp as wp

    from .place import TaskPlace

__all__ = ["Inputs", "JointTargets"]


@attrs.frozen(kw_only=True)
class ScaledConfig:
    """An action of an actuator group: target = offset + scale × clipped number."""

    actuator: str
    """Label of the group."""

    scale: float = attrs.field(default=1.0, validator=finite)
    """Factor of the numbers."""

    clip: tuple[float, float] | None = None
    """Lowest and highest number; others are clipped, and the action space has these bounds."""


@attrs.frozen(kw_only=True)
class JointTargetsConfig(ScaledConfig):
    """Position targets of an actuator group [rad, m]."""

    offset: Literal["initial", "zero"] = "initial"
    """Position for the number zero: the initial one of each joint, or zero."""


class Scaled(Action):
    """Numbers that are clipped, scaled, and added to an offset."""

    def __init__(self, config: Any, place: TaskPlace) -> None:
        super().__init__(config, place)
        self._group = place.actuator(config.actuator)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The range of `clip`."""
        import numpy as np

        if self.config.clip is None:
            return super().bounds
        low, high = self.config.clip
        return np.full(len(self.labels), low, dtype=np.float32), np.full(len(self.labels), high, dtype=np.float32)

    def _set(self, action: wp.array2d[float], offsets: wp.array, targets: wp.array) -> None:
        import math

        import warp as wp

        from .action_kernels import set_targets

        bounds = wp.vec2(*((-math.inf, math.inf) if self.config.clip is None else self.config.clip))
        wp.launch(
            set_targets, action.shape, [action, bounds, self.config.scale, offsets, targets], device=action.device
        )


class JointTargets(Scaled):
    """The action `joint-targets`: position targets of an actuator group."""

    Config: ClassVar[type] = JointTargetsConfig

    def __init__(self, config: JointTargetsConfig, place: TaskPlace) -> None:
        super().__init__(config, place)
        import warp as wp

        targets = getattr(self._group, "position_targets", None)
        if targets is None:
            raise ConfigError(f"actuator: {config.actuator!r} has no position targets; choose a group that has")
        self._targets = targets
        self._offsets: Any = wp.clone(targets) if config.offset == "initial" else wp.zeros_like(targets)

    @property
    def labels(self) -> Sequence[str]:
        """The joints of the group."""
        return tuple(self._group.joint_labels)

    def apply(self, action: wp.array2d[float]) -> None:
        """Write the targets."""
        self._set(action, self._offsets, self._targets)


class Inputs(Scaled):
    """The action `inputs`: the inputs of the asset's own actuators, in a group of type `control`."""

    Config: ClassVar[type] = ScaledConfig

    def __init__(self, config: ScaledConfig, place: TaskPlace) -> None:
        super().__init__(config, place)
        import warp as wp

        inputs = getattr(self._group, "ctrl", None)
        if inputs is None:
            raise ConfigError(f"actuator: {config.actuator!r} has no inputs; choose a group of type 'control'")
        self._inputs = inputs
        self._offsets: Any = wp.zeros_like(inputs)

    @property
    def labels(self) -> Sequence[str]:
        """The actuators of the group."""
        return tuple(self._group.actuator_labels)

    def apply(self, action: wp.array2d[float]) -> None:
        """Write the inputs."""
        self._set(action, self._offsets, self._inputs)
