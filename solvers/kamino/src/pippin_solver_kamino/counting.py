"""Newton's solver as the plugin uses it: it counts contacts, and closes loops at resets."""

from __future__ import annotations

from typing import Any

import newton
import warp as wp

from .kernels import count_contacts, select_both

__all__ = ["CountingKamino"]


class CountingKamino(newton.solvers.SolverKamino):
    """Newton's `SolverKamino`, which counts the contacts of each world that Newton's pipeline gives to it.

    Args:
        model: The model, or an entry's view of it.
        config: Newton's settings.
        loops: The worlds, and the part that all share, in which a reset closes loops: there, body poses follow from
            joint coordinates by Kamino's kinematics. It finds none for a tree with a joint without a drive. Empty for
            none.
    """

    def __init__(self, model: Any, config: Any, *, loops: list[bool]) -> None:
        super().__init__(model, config)
        #: Whether a reset closes loops.
        self.closes_loops = any(loops)
        self._loops = wp.array(loops, dtype=bool, device=model.device)
        self._to_close = wp.zeros_like(self._loops)
        self._counts = not config.use_collision_detector
        self._leaves_out_gaps = config.dynamics_solver != "lox" and config.dynamics.cull_speculative_contacts
        #: Contacts of each world in the last step, shape [worlds].
        self.contacts_in_world = wp.zeros(model.world_count, dtype=int, device=model.device)

    def step(self, state_in: Any, state_out: Any, control: Any, contacts: Any, dt: float, **options: Any) -> None:
        """Count the contacts, and step. May be recorded."""
        if self._counts and contacts is not None and contacts.rigid_contact_max:
            self._count(contacts, state_in)
        super().step(state_in, state_out, control, contacts, dt, **options)

    def reset(self, state: Any, world_mask: Any = None, flags: Any = None, **options: Any) -> None:
        """Reset worlds; where there are loops, body poses and velocities follow from `joint_q` and `joint_qd`."""
        if self.closes_loops:
            mask = self._loops
            if world_mask is not None:
                wp.launch(select_both, len(world_mask), [mask, world_mask], [self._to_close], device=mask.device)
                mask = self._to_close
            super().reset(state, world_mask=mask, config=self.ResetConfig.from_joints())
        else:
            super().reset(state, world_mask, flags, **options)

    def _count(self, found: newton.Contacts, state: newton.State) -> None:
        model: Any = self.model
        self.contacts_in_world.zero_()
        inputs = [
            found.rigid_contact_count,
            found.rigid_contact_shape0,
            found.rigid_contact_shape1,
            found.rigid_contact_point0,
            found.rigid_contact_point1,
            found.rigid_contact_normal,
            found.rigid_contact_margin0,
            found.rigid_contact_margin1,
            model.shape_body,
            model.shape_world,
            state.body_q,
            self._leaves_out_gaps,
        ]
        wp.launch(count_contacts, found.rigid_contact_max, inputs, [self.contacts_in_world], device=model.device)
