"""Newton's `SolverFeatherstone` for gradients."""

from __future__ import annotations

from typing import Any

import warp as wp
from newton import Contacts, Control, State
from newton.solvers import SolverBase

from .kernels import unshift_forces
from .stable import StableFeatherstone

__all__ = ["DifferentiableFeatherstone"]

_MASS_MATRIX = ("J", "M", "P", "H", "L", "H_mimic", "joint_armature_effective")
"""Newton's names of the Jacobian, spatial inertia, their products, the factor, its variant for mimic joints, and what
armature, dampers and limits add to the diagonal."""


class DifferentiableFeatherstone(StableFeatherstone):
    """A solver that keeps for each substep of a rollout what its backward pass reads.

    The backward pass reads Jacobian, mass matrix and factor of each substep, and the forces on bodies. Newton 1.8 has
    one set of matrices for all substeps, and overwrites the forces after it has read them. So its gradients are
    silently wrong if the mass matrix changes, or if a force acts on a body.
    """

    def step(
        self,
        state_in: State,
        state_out: State,
        control: Control,
        contacts: Contacts,
        dt: float,
        *,
        observables: SolverBase.Observables | None = None,
    ) -> None:
        """Advance by one substep; if the states have gradients, with new arrays that the tape keeps."""
        kept = self._arrays() if state_in.requires_grad else {}
        try:
            for name, array in kept.items():
                setattr(self, name, wp.zeros_like(array))
            super().step(state_in, state_out, control, contacts, dt, observables=observables)
            if kept:
                self._restore_forces(state_out)
        finally:
            for name, array in kept.items():
                setattr(self, name, array)

    def _restore_forces(self, state: Any) -> None:
        """Write the forces on bodies back into the state, which keeps them for the backward pass."""
        model = self.model
        inputs = [state.body_q_com, state.body_solve_origin, model.joint_child, state.body_f_ext]
        wp.launch(unshift_forces, model.joint_count, inputs, device=model.device, record_tape=False)

    def _arrays(self) -> dict[str, wp.array]:
        found = {name: getattr(self, name, None) for name in _MASS_MATRIX}
        return {name: array for name, array in found.items() if array is not None}
