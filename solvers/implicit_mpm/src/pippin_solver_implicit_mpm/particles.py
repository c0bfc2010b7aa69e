"""Newton's implicit material point method, which moves nothing but particles, and resets single worlds."""

from __future__ import annotations

from typing import Any

import newton
import warp as wp

__all__ = ["ParticlesMPM"]


class ParticlesMPM(newton.solvers.SolverImplicitMPM):
    """Newton's solver, which leaves bodies where they are, and resets single worlds.

    Args:
        model: Newton's model.
        config: Newton's settings.
        projects: Whether a step also moves particles out of colliders.
        options: Other arguments of Newton's constructor.
    """

    def __init__(self, model: newton.Model, config: Any, projects: bool, **options: Any) -> None:
        super().__init__(model, config, **options)
        self._projects = projects
        self._names: frozenset[str] | None = None

    def step(
        self,
        state_in: newton.State,
        state_out: newton.State,
        control: Any,
        contacts: Any,
        dt: float,
        *,
        observables: Any = None,
    ) -> None:
        """Move the particles; bodies keep their poses."""
        names = self._names = self._names or frozenset(vars(state_in))
        super().step(state_in, state_out, control, contacts, dt, observables=observables)
        if self._projects:
            self.project_outside(state_out, state_out, dt)
        if state_out is state_in:
            return
        for name in ("body_q", "body_qd"):
            source, target = getattr(state_in, name), getattr(state_out, name)
            if source is not None and target is not None:
                wp.copy(target, source)
        # The solver adds its fields to the state that it writes; both states must have the same fields.
        for name in vars(state_out).keys() - names:
            setattr(state_in, name, getattr(state_out, name))

    def reset(self, state: newton.State, world_mask: Any = None, flags: Any = None) -> None:
        """Forget the steps of the masked worlds; on one grid, the mask of one world is read on the host."""
        if world_mask is not None and self.model.world_count == 1:
            if not world_mask.numpy()[0]:
                return
            world_mask = None
        super().reset(state, world_mask=world_mask, flags=flags)
