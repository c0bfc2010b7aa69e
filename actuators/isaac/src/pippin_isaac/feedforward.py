"""Feedforward efforts for DOFs, whichever actuators drive them: checked for all before the first is written."""

from __future__ import annotations

from typing import Self

import attrs
import numpy as np
from pippin.actuation import DriveActuator

from .errors import ArgumentError

__all__ = ["FeedforwardWrite"]


@attrs.frozen
class FeedforwardWrite:
    """The feedforward of some lanes of one actuator."""

    actuator: DriveActuator
    lanes: list[int]
    efforts: list[float]
    """Efforts of these lanes [N or N·m]."""

    @classmethod
    def of(cls, actuator: DriveActuator, dofs: np.ndarray, efforts: np.ndarray) -> Self:
        """Return what concerns an actuator of the efforts for some DOFs.

        Raises:
            ArgumentError: The actuator drives one of the DOFs, and has no feedforward.
        """
        lane_of = {dof: lane for lane, dof in enumerate(actuator.actuated_dofs.numpy().tolist())}
        pairs = zip(dofs.tolist(), efforts.tolist(), strict=True)
        own = [(lane_of[dof], effort) for dof, effort in pairs if dof in lane_of]
        reason = actuator.unread_targets.get("feedforward")
        if own and reason is not None:
            label = actuator.joint_labels[own[0][0] % len(actuator.joint_labels)]
            raise ArgumentError(
                f"target_feedforward_efforts: the actuator of {label!r} takes none: {reason};"
                " leave this joint out of dof_indices"
            )
        return cls(actuator, [lane for lane, _ in own], [effort for _, effort in own])

    def run(self) -> None:
        """Write the efforts. Reads and writes the device."""
        if self.lanes:
            efforts = self.actuator.feedforward.numpy()
            efforts.ravel()[self.lanes] = self.efforts
            self.actuator.feedforward.assign(efforts)
