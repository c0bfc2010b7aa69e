"""Motion of the joints of logs in all worlds: the state at the start, and after each control step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host

from .kernels import keep_joints, restore_numbers
from .log import Log, velocities_of
from .windows import Window


class JointMotion:
    """Positions and velocities of the joints of logs over a rollout, by their indices, shape [worlds, joints]."""

    def __init__(
        self,
        logs: Sequence[Log],
        windows: Sequence[Window],
        coordinates: np.ndarray,
        dofs: np.ndarray,
        steps: int,
        device: wp.Device,
    ) -> None:
        rates = [velocities_of(log) for log in logs]
        self._measured = np.stack([logs[window.log].signals["position"][window.first] for window in windows])
        self._rates = np.stack([rates[window.log][window.first] for window in windows])
        self._dofs, self._coordinates = (wp.array(each, dtype=int, device=device) for each in (dofs, coordinates))
        self._start_q, self._start_qd = (wp.zeros(dofs.shape, dtype=float, device=device) for _ in range(2))
        shape = (steps, *dofs.shape)
        self._positions, self._velocities = (wp.zeros(shape, dtype=float, device=device) for _ in range(2))

    def vary(self, offsets: np.ndarray, shifts: np.ndarray) -> None:
        """Set the readings of the encoders at zero, shape [worlds, joints], and the shifts of the measured positions at
        the start, then of the velocities, shape [worlds, 2 * joints].
        """
        joints = offsets.shape[1]
        self._start_q.assign((self._measured - offsets + shifts[:, :joints]).astype(np.float32))
        self._start_qd.assign((self._rates + shifts[:, joints:]).astype(np.float32))

    def start(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Write the states at the start into the masked worlds. May be recorded."""
        for values, index, numbers in (
            (self._start_q, self._coordinates, state.joint_q),
            (self._start_qd, self._dofs, state.joint_qd),
        ):
            wp.launch(restore_numbers, index.shape, [world_mask, values, index, numbers], device=world_mask.device)

    def keep(self, state: newton.State, counts: wp.array[wp.int64]) -> None:
        """Keep the state after a control step, the one that `counts` gives for each world. May be recorded."""
        inputs = [state.joint_q, state.joint_qd, self._coordinates, self._dofs, counts]
        inputs += [self._positions, self._velocities]
        wp.launch(keep_joints, self._dofs.shape, inputs, device=self._dofs.device)

    def keep_rollout(self, worlds: np.ndarray, joint_q: np.ndarray, joint_qd: np.ndarray) -> None:
        """Keep all control steps of some worlds, shape [steps, worlds, numbers of a world]; the motion of the others
        becomes NaN.
        """
        for kept, rows, index in (
            (self._positions, joint_q, self._coordinates),
            (self._velocities, joint_qd, self._dofs),
        ):
            motion = np.full(kept.shape, np.nan, dtype=np.float32)
            motion[:, worlds] = rows[:, :, on_host(index)[0]]  # the numbers of the first world come first
            kept.assign(motion)

    def arrays(self) -> Mapping[str, np.ndarray]:
        """Return `position` and `velocity` of the joints, shape [steps + 1, worlds, joints], of the last rollout."""
        starts = {"position": (self._start_q, self._positions), "velocity": (self._start_qd, self._velocities)}
        return {
            name: np.concatenate([on_host(first)[None], on_host(others)]) for name, (first, others) in starts.items()
        }
