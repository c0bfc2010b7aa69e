"""The solver under the actuators and sensors that are tested: installed with the kit, and with nothing of its own."""

from __future__ import annotations

from typing import Any

import newton
import pippin
import warp as wp
from pippin.arrays import present
from pippin.features import RIGID_TREES

from .kernels import mean_acceleration

__all__ = ["PlainSolver"]


class AcceleratingXPBD(newton.solvers.SolverXPBD):
    """Newton's XPBD that also writes `body_qdd` [m/s², rad/s²], the mean over a substep.

    Args:
        model: What it moves.
    """

    SUPPORTED_OBSERVABLES = newton.solvers.SolverXPBD.SUPPORTED_OBSERVABLES | {"body_qdd"}

    def __init__(self, model: newton.Model) -> None:
        super().__init__(model, iterations=4)
        self._before = wp.zeros_like(present(model.body_qd))

    def step(
        self, state_in: Any, state_out: Any, control: Any, contacts: Any, dt: float, *, observables: Any = None
    ) -> None:
        """Advance by `dt` [s], and compare the velocities before and after. May be recorded."""
        wp.copy(self._before, state_in.body_qd)  # XPBD also writes to its input
        super().step(state_in, state_out, control, contacts, dt, observables=observables)
        if observables is not None and observables.is_requested("body_qdd"):
            inputs = [self._before, state_out.body_qd, dt]
            wp.launch(mean_acceleration, len(self._before), inputs, [observables.body_qdd], device=self.model.device)


class PlainSolver:
    """Builds it."""

    coordinates = "maximal"
    supported_features = RIGID_TREES
    supported_observables = AcceleratingXPBD.SUPPORTED_OBSERVABLES

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> AcceleratingXPBD:
        """Return the solver of a model."""
        return AcceleratingXPBD(model)
