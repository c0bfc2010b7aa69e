"""An actuator made of Newton components that the caller built."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
from pippin import did_you_mean
from pippin.actuation import ActuatorConfig as GroupConfig
from pippin.actuation import DriveActuator, Lanes
from pippin.axes import choose_axes
from pippin.labels import name_of

from .errors import ArgumentError, UnknownAxisError
from .roots import Roots

if TYPE_CHECKING:
    import newton
    from newton.actuators import ClampingBase, Delay, DriveBase

__all__ = ["ActuatorConfig", "PrebuiltActuator"]


@attrs.frozen(eq=False)
class ActuatorConfig:
    """Newton components of one actuator, with arrays of one value per world, for one simulation only."""

    controller: DriveBase
    """The control law."""

    clamping: Sequence[ClampingBase] = attrs.field(factory=list)
    """Limits in the order in which they are applied."""

    delay: Delay | None = None
    """Delay of the targets, if any."""


class PrebuiltActuator(DriveActuator):
    """One actuator of `ArticulationActuators.from_actuators`, on the axis of one name in each world.

    Args:
        prebuilt: The actuator's components.
        joint: Name of the axis, for most joints that of the joint.
    """

    def __init__(self, prebuilt: ActuatorConfig, joint: str) -> None:
        super().__init__(GroupConfig(joints=(re.escape(joint),)))
        self._prebuilt, self._joint = prebuilt, joint

    def select(self, builder: newton.ModelBuilder, prototype: int, roots: Roots) -> None:
        """Find the axis below some roots, and switch off the asset's drive of this axis.

        Raises:
            UnknownAxisError: There is no such axis.
            ArgumentError: There are several such axes.
        """
        axes, _ = choose_axes(builder, ".*", where="actuators")
        labels = [label for label in axes.values() if roots.holds(label)]
        names = [name_of(label) for label in labels]
        found = [label for label, name in zip(labels, names, strict=True) if name == self._joint]
        if len(found) != 1:
            known = ", ".join(names) or "none"
            raise (ArgumentError if found else UnknownAxisError)(
                f"actuators: {len(found)} axes are called {self._joint!r}{did_you_mean(self._joint, names)};"
                f" axes: {known}"
            )
        self.config = attrs.evolve(self.config, joints=(re.escape(found[0]),))
        self.extend_prototype(builder, prototype)

    def build_drive(self, lanes: Lanes) -> DriveBase:
        """Return the prebuilt law."""
        self._refuse_sizes(lanes)
        return self._prebuilt.controller

    def build_clamping(self, lanes: Lanes) -> list[ClampingBase]:
        """Return the prebuilt limits."""
        return list(self._prebuilt.clamping)

    def build_delay(self, lanes: Lanes) -> Delay | None:
        """Return the prebuilt delay, else that of the asset's motors."""
        return self._prebuilt.delay or super().build_delay(lanes)

    def _refuse_sizes(self, lanes: Lanes) -> None:
        """Refuse arrays of another device, or without one value per world: Newton would read out of bounds."""
        import warp as wp

        parts = [self._prebuilt.controller, *self._prebuilt.clamping, *filter(None, [self._prebuilt.delay])]
        for part in parts:
            for name, value in vars(part).items():
                if not isinstance(value, wp.array):
                    continue
                if value.device != lanes.device:
                    raise ArgumentError(
                        f"actuators: {name} of {type(part).__name__} is on {value.device}, and the simulation on"
                        f" {lanes.device}; make the array with device={str(lanes.device)!r}"
                    )
                if value.ndim == 1 and len(value) != lanes.dofs.size:
                    raise ArgumentError(
                        f"actuators: {name} of {type(part).__name__} has {len(value)} values for {self._joint!r},"
                        f" and there are {lanes.dofs.size} worlds; give one value for each"
                    )
