"""Targets of an actuator: its own arrays, and what a user writes into `control` or through a view."""

from __future__ import annotations

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host

from .kernels import exchange_targets

TARGETS_OF_CONTROL = {"position_targets": "joint_target_q", "velocity_targets": "joint_target_qd"}
"""Arrays of `newton.Control` with the targets of all joints, by the name of an actuator's own array."""


class SharedTargets:
    """Keeps the targets of an actuator and those in `control` equal: whichever was written since the last step holds.

    If both were written, those in `control` hold. `dofs` and `coordinates` are indices of each lane into arrays of that
    shape; the present targets in `control` count as written by nobody.
    """

    def __init__(
        self,
        dofs: np.ndarray,
        coordinates: np.ndarray,
        positions: wp.array,
        velocities: wp.array,
        control: newton.Control,
        world_of_lane: wp.array[int],
    ) -> None:
        self._world_of_lane = world_of_lane
        device = positions.device
        self._own = (positions, velocities)
        self._dofs, self._coordinates = (
            wp.array(each.ravel(), dtype=int, device=device) for each in (dofs, coordinates)
        )
        # What both held after the last step; another value in `control` was written by a user.
        self._known_positions, self._known_velocities = (
            wp.array(on_host(array)[index.ravel()], dtype=float, device=device)
            for array, index in ((control.joint_target_q, coordinates), (control.joint_target_qd, dofs))
        )

        self._no_worlds = wp.zeros(0, dtype=bool, device=device)

    def exchange(self, control: newton.Control, kept_worlds: wp.array | None = None) -> None:
        """Take over what was written into `control`, and write all targets there. May be recorded.

        With a mask of shape [world_count + 1], the actuator's own targets hold in the masked worlds, and others stay.
        """
        own = [array.flatten() for array in self._own]
        kept = self._no_worlds if kept_worlds is None else kept_worlds
        inputs = [self._world_of_lane, kept, self._dofs, self._coordinates, *own]
        inputs += [self._known_positions, self._known_velocities, control.joint_target_q, control.joint_target_qd]
        # A tape has the user's own arrays; the exchange would hide them.
        wp.launch(exchange_targets, self._dofs.size, inputs, device=self._dofs.device, record_tape=False)
