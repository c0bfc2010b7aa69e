"""The external forces of a control step."""

from __future__ import annotations

import newton
import warp as wp


class ExternalForces:
    """The forces that a user wrote into the state before a control step, applied in each of its substeps."""

    def __init__(self, state: newton.State) -> None:
        names = [name for name, count in (("body_f", state.body_count), ("particle_f", state.particle_count)) if count]
        self._state = state
        self._kept = {name: wp.clone(getattr(state, name)) for name in names}

    def keep(self) -> None:
        """Copy the user's forces."""
        for name, kept in self._kept.items():
            wp.copy(kept, getattr(self._state, name))

    def apply(self, state: newton.State) -> None:
        """Overwrite the forces of a substep's input state with the copy."""
        for name, kept in self._kept.items():
            wp.copy(getattr(state, name), kept)
