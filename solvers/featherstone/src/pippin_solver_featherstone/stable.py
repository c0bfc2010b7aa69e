"""Newton's `SolverFeatherstone` with damping and limits of joints that are stable in every step."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import newton
import numpy as np
import warp as wp
from newton import Contacts, Control, State
from newton.solvers import SolverBase

from .kernels import resist_at_the_end, round_static_shapes, take

__all__ = ["StableFeatherstone"]


class StableFeatherstone(newton.solvers.SolverFeatherstone):
    """A solver that takes the damping and the limits of joints at the velocity of the end of the step.

    Newton takes them at its start. A step of 5 ms is then unstable for a finger of 1e-5 kg·m²: a limit with Newton's
    damping, 10 N·m·s/rad, would need a step of 2 µs. Here, a damper d adds dt d to the inertia of its axis, and a limit
    that acts adds dt kd + dt² ke, and dt ke to its damping: an implicit step. What the step resolves stays explicit.

    Newton 1.8 takes the inertia of body i for the body of joint i. It is another body if a child stands before its
    parent, or if some world has a joint more than bodies: then the motion is silently wrong. Here, it is the child's.

    Newton 1.8 counts radius and margin of shapes on bodies alone: a ball sinks into a static sphere by its radius.
    Here, static shapes have theirs.
    """

    _resisting: Any = None
    _augmented: Any = None
    _of_bodies: Any = None
    _of_joints: Any = None
    _is_dirty: bool = False

    @property
    def _mass_matrix_dirty(self) -> bool:
        """Whether to build the mass matrix anew. Newton asks right before it does, with the inertias at hand."""
        if self._augmented is not None and self._has_other_order:
            self._order_inertias(self._augmented)
        return self._is_dirty

    @_mass_matrix_dirty.setter
    def _mass_matrix_dirty(self, is_dirty: bool) -> None:
        self._is_dirty = is_dirty

    @cached_property
    def _has_other_order(self) -> bool:
        model: Any = self.model
        children = model.joint_child.numpy()[: model.articulation_end.numpy().max(initial=0)]
        return not np.array_equal(children, np.arange(len(children)))

    def _order_inertias(self, augmented: Any) -> None:
        """Put the spatial inertia of each joint's child at the place of the joint."""
        joints: Any = self.model.joint_child
        self._of_bodies = augmented.body_I_s
        bodies = self._of_bodies
        if self._of_joints is None or bodies.requires_grad:
            shape, device = len(joints), joints.device
            self._of_joints = wp.zeros(shape, dtype=bodies.dtype, device=device, requires_grad=bodies.requires_grad)
        wp.launch(take, len(joints), [bodies, joints], [self._of_joints], device=joints.device)
        augmented.body_I_s = self._of_joints

    def _update_kinematic_state(self) -> None:
        super()._update_kinematic_state()
        self._inertial: Any = self.joint_armature_effective
        if self._resisting is None and self.model.joint_dof_count:
            # pyrefly: ignore[bad-argument-type]
            self._resisting = wp.zeros_like(self._inertial)  # once: recorded steps hold its address
            self._hardened = wp.zeros_like(self._inertial)  # pyrefly: ignore[bad-argument-type]
        self.joint_armature_effective = self._resisting

    @cached_property
    def _has_round_static_shapes(self) -> bool:
        model: Any = self.model
        if not model.shape_count:
            return False
        is_flat = np.isin(model.shape_type.numpy(), (newton.GeoType.PLANE, newton.GeoType.HFIELD))
        is_static = model.shape_body.numpy() < 0
        return bool((is_static & (~is_flat | (model.shape_margin.numpy() > 0.0))).any())

    def _round_static_shapes(self, contacts: Any) -> None:
        """Put the points of static shapes in contact onto their surfaces: Newton counts radii on bodies alone."""
        if contacts is not None and contacts.rigid_contact_max and self._has_round_static_shapes:
            shapes = [self.model.shape_body, contacts.rigid_contact_shape0, contacts.rigid_contact_shape1]
            outputs = [contacts.rigid_contact_point0, contacts.rigid_contact_point1]
            outputs += [contacts.rigid_contact_margin0, contacts.rigid_contact_margin1]
            inputs = [contacts.rigid_contact_count, *shapes, contacts.rigid_contact_normal]
            wp.launch(round_static_shapes, contacts.rigid_contact_max, inputs, outputs, device=self.model.device)

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
        self._round_static_shapes(contacts)
        model, limit_kd = self.model, self.model.joint_limit_kd
        if model.joint_dof_count:
            joints = [model.joint_type, model.joint_child, model.joint_q_start, model.joint_qd_start]
            axes = [model.joint_dof_dim, model.joint_X_c, model.joint_axis]
            links = [model.body_mass, model.body_inertia, model.body_com]
            limits = [model.joint_limit_lower, model.joint_limit_upper, model.joint_limit_ke, model.joint_limit_kd]
            inputs = [dt, *joints, *axes, *links, *limits, model.joint_damping, self._inertial, state_in.joint_q]
            outputs = [self.joint_armature_effective, self._hardened]
            wp.launch(resist_at_the_end, model.joint_count, inputs, outputs, device=model.device)
            model.joint_limit_kd = self._hardened
        augmented: Any = state_out if state_in.requires_grad else self  # Newton keeps its arrays there
        self._augmented = augmented
        try:
            super().step(state_in, state_out, control, contacts, dt, observables=observables)
        finally:
            model.joint_limit_kd = limit_kd
            if self._of_bodies is not None:
                augmented.body_I_s, self._of_bodies = self._of_bodies, None
            self._augmented = None
