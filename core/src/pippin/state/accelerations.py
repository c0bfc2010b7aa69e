"""Accelerations of bodies, measured as the change of their velocities over a substep, for every solver alike."""

from __future__ import annotations

import newton
import warp as wp
from pippin.arrays import present

from .kernels import difference_quotient


class Accelerations:
    """The observable `body_qdd` [m/s², rad/s²], in the convention of `body_qd`: of the centre of mass, in the world.

    A solver's own accelerations can differ from what its integrator then does: MuJoCo's `qacc` lacks the implicit part
    of damping. The change of the velocities over the substep is exact for all of them.

    Args:
        model: The model of all worlds.
    """

    def __init__(self, model: newton.Model) -> None:
        #: Accelerations over the last measured substep, shape [body_count].
        self.values: wp.array = wp.zeros_like(present(model.body_qd))
        self._before = wp.zeros_like(self.values)

    def keep(self, state: newton.State) -> None:
        """Keep the velocities at the start of a substep. Solvers may write to the state that they get."""
        if len(self.values):
            wp.copy(self._before, present(state.body_qd))

    def measure(self, state: newton.State, dt: float) -> None:
        """Compute the accelerations at the end of the substep.

        Args:
            state: The state after the substep.
            dt: Length of the substep [s].
        """
        inputs = [self._before, state.body_qd, dt, self.values]
        wp.launch(difference_quotient, len(self.values), inputs, device=self.values.device)
