"""Newton's implicit material point method, which also resets a single world."""

from __future__ import annotations

from typing import Any

import newton

__all__ = ["ResettableMPM"]


class ResettableMPM(newton.solvers.SolverImplicitMPM):
    """Newton's solver: on one grid it clears what it remembers only for all particles at once."""

    def reset(self, state: newton.State, world_mask: Any = None, flags: Any = None) -> None:
        """Forget the steps of the masked worlds; with one world, the mask is read on the host."""
        if world_mask is not None and self.model.world_count == 1:
            if not world_mask.numpy()[0]:
                return
            world_mask = None
        super().reset(state, world_mask=world_mask, flags=flags)
