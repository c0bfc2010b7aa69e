"""The motor of a servo under its firmware, as a drive of Newton's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import warp as wp
from newton.actuators import DriveBase

from .kernels import Memory, drive_motors, forget

__all__ = ["ServoDrive"]

_NAMES = ("targets", "is_set", "currents")


class ServoDrive(DriveBase):
    """A motor whose duty or current follows the error of the position.

    Args:
        motors: The parameters, a `Motors`.
    """

    @dataclass
    class State(DriveBase.State):
        """Memory of the servos between steps, each of shape [lanes]; see the struct `Memory`."""

        targets: wp.array[float]
        is_set: wp.array[wp.bool]
        currents: wp.array[float]

        def memory(self) -> Any:
            """Return the arrays for a kernel."""
            memory = Memory()
            for name in _NAMES:
                setattr(memory, name, getattr(self, name))
            return memory

        def reset(self, mask: wp.array[wp.bool] | None = None) -> None:
            """Forget everything, in the masked lanes or in all."""
            count, device = len(self.targets), self.targets.device
            chosen = wp.full(count, value=True, dtype=bool, device=device) if mask is None else mask
            wp.launch(forget, count, [chosen, self.memory()], device=device)

        def assign(self, other: ServoDrive.State) -> None:
            """Copy the memory of another one."""
            for name in _NAMES:
                wp.copy(getattr(self, name), getattr(other, name))

    def __init__(self, motors: Any) -> None:
        self._motors = motors

    def finalize(self, device: wp.Device, num_actuators: int) -> None:
        """Allocate what a step writes."""
        self._next = self.state(num_actuators, device)

    def state(self, num_actuators: int, device: wp.Device) -> ServoDrive.State:
        """Return an empty memory."""
        targets, is_set, currents = (
            wp.zeros(num_actuators, dtype=kind, device=device) for kind in (float, bool, float)
        )
        return ServoDrive.State(targets, is_set, currents)

    def is_stateful(self) -> bool:
        """Return True: the target moves, and the supply falls by the current of the last step."""
        return True

    def is_graphable(self) -> bool:
        """Return True: all is on the device."""
        return True

    def compute(
        self,
        positions: wp.array[float],
        velocities: wp.array[float],
        target_pos: wp.array[float],
        target_vel: wp.array[float],
        feedforward: wp.array[float] | None,
        pos_indices: wp.array[wp.uint32],
        vel_indices: wp.array[wp.uint32],
        target_pos_indices: wp.array[wp.uint32],
        target_vel_indices: wp.array[wp.uint32],
        forces: wp.array[float],
        state: Any,
        dt: float,
        device: wp.Device | None = None,
        *,
        custom_inputs: dict[str, Any] | None = None,
    ) -> None:
        """Write the torques of the motors [N·m]."""
        inputs = [self._motors, state.memory(), positions, velocities, target_pos, pos_indices, vel_indices]
        inputs += [target_pos_indices, dt]
        wp.launch(drive_motors, len(forces), inputs, [forces, self._next.memory()], device=device)

    def update_state(self, current_state: Any, next_state: Any) -> None:
        """Keep what the step wrote."""
        next_state.assign(self._next)
