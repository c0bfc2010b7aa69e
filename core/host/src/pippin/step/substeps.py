"""Parts of a physics step around its substeps: the user's forces, and detections as often as speeds demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import newton
import warp as wp
from pippin.arrays import present
from pippin.solving.contact_source import ContactSource

from .program import Operation


class AdaptiveDetection:
    """The substeps of a physics step, before some of which contacts are detected.

    Args:
        source: The contacts, with an adaptive interval.
        states: The two states of the substeps; the first one begins and ends the physics step.
        substeps: The operations of each substep, an even number.
        note: Notes whether the contacts just detected fit into their buffers.
        dt: Length of a physics step [s].
    """

    def __init__(
        self,
        source: ContactSource,
        states: Sequence[newton.State],
        substeps: Sequence[Sequence[Operation]],
        note: Callable[[], None],
        dt: float,
    ) -> None:
        self._source, self._substeps, self._note, self._turn = source, substeps, note, 0
        self._scheduler = newton.CollisionSubstepScheduler(
            present(source.pipeline),
            states,
            collision_callback=self._detect,
            substep_callback=self._take,
            frame_dt=dt,
            substeps=len(substeps),
        )
        self._scheduler.interval_overflow = present(source.overtravel)

    @property
    def operation(self) -> Operation:
        """All substeps with their detections as one operation."""
        reasons = (each.eager_reason for substep in self._substeps for each in substep)
        reason = next((each for each in reasons if each is not None), None)
        return Operation(name="adaptive_substeps", run=self.run, eager_reason=reason, is_repeatable=True)

    def run(self) -> None:
        """Take the physics step. May be recorded."""
        self._turn = 0
        self._scheduler.step()

    def _detect(self, state: newton.State, horizon: float) -> None:
        self._source.collide(state, present(self._source.contacts), horizon)
        self._note()

    def _take(self, state_in: newton.State, state_out: newton.State, dt: float) -> None:
        for operation in self._substeps[self._turn]:
            operation.run()
        self._turn += 1


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
