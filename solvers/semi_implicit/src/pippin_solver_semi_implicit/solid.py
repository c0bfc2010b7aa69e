"""Newton's `SolverSemiImplicit` with round static shapes that have their radius."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import newton
import numpy as np
import warp as wp
from newton import Contacts, Control, State
from newton.solvers import SolverBase

from .kernels import round_static_shapes

__all__ = ["SolidSemiImplicit"]


class SolidSemiImplicit(newton.solvers.SolverSemiImplicit):
    """A solver whose static spheres and capsules, and margins of static shapes, are as large as they are.

    Newton 1.8 counts radius and margin of shapes on bodies alone: a ball sinks into a static sphere by its radius.
    """

    @cached_property
    def _has_round_static_shapes(self) -> bool:
        model: Any = self.model
        if not model.shape_count:
            return False
        is_flat = np.isin(model.shape_type.numpy(), (newton.GeoType.PLANE, newton.GeoType.HFIELD))
        is_static = model.shape_body.numpy() < 0
        return bool((is_static & (~is_flat | (model.shape_margin.numpy() > 0.0))).any())

    def step(
        self,
        state_in: State,
        state_out: State,
        control: Control | None,
        contacts: Contacts | None,
        dt: float,
        *,
        observables: SolverBase.Observables | None = None,
    ) -> None:
        """Advance by one substep."""
        if contacts is not None and contacts.rigid_contact_max and self._has_round_static_shapes:
            found: Any = contacts
            shapes = [self.model.shape_body, found.rigid_contact_shape0, found.rigid_contact_shape1]
            outputs = [found.rigid_contact_point0, found.rigid_contact_point1]
            outputs += [found.rigid_contact_margin0, found.rigid_contact_margin1]
            inputs = [found.rigid_contact_count, *shapes, found.rigid_contact_normal]
            wp.launch(round_static_shapes, found.rigid_contact_max, inputs, outputs, device=self.model.device)
        super().step(state_in, state_out, control, contacts, dt, observables=observables)
