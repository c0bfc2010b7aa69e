"""Newton's `SolverSemiImplicit` with round static shapes that have their radius."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import newton
import numpy as np
import warp as wp
from newton import Contacts, Control, State
from newton.solvers import SolverBase

__all__ = ["SolidSemiImplicit"]


@wp.kernel(enable_backward=False)
def round_static_shapes(
    count: wp.array[int],
    shape_body: wp.array[int],
    shape0: wp.array[int],
    shape1: wp.array[int],
    normal: wp.array[wp.vec3],
    point0: wp.array[wp.vec3],
    point1: wp.array[wp.vec3],
    margin0: wp.array[float],
    margin1: wp.array[float],
):
    """Put the points of static shapes in contact onto their surfaces, and leave them no margin."""
    i = wp.tid()
    if i >= count[0]:
        return
    if shape0[i] >= 0 and shape_body[shape0[i]] < 0:
        point0[i] += margin0[i] * normal[i]
        margin0[i] = 0.0
    if shape1[i] >= 0 and shape_body[shape1[i]] < 0:
        point1[i] -= margin1[i] * normal[i]
        margin1[i] = 0.0


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
        control: Control,
        contacts: Contacts,
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
