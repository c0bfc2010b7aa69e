"""Observables: the reports of a solver, allocated once before anything is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import newton
import warp as wp
from pippin.arrays import present
from pippin.support.features import MEASURED

from .kernels import difference_quotient, forget_contacts
from .world_rows import WorldRows, arrays_of, restore_worlds, worlds_of_frequency

OVERFLOW = "overflow"
"""The observable that reports a solver's full buffers, one integer per world; always read if the solver has it."""


def allocate_observables(
    kinds: frozenset[str],
    reported: frozenset[str],
    solver: newton.solvers.SolverBase,
    contacts: newton.Contacts | None,
    substep_count: int,
) -> Reports | None:
    """Return arrays for some observables, and for overflow reports if the solver has them; None if there are none."""
    kinds |= getattr(solver, "supported_observables", frozenset()) & {OVERFLOW}
    if not kinds:
        return None
    measured = (kinds & MEASURED) - reported
    observables = solver.observables(kinds - measured, contacts=contacts)
    return Reports(observables, substep_count, Accelerations(solver.model) if measured else None)


class Reports:
    """The reports of the solver in each substep of a control step.

    The last substep fills the arrays that sensors read. Every substep reports overflow into its own row: no report is
    overwritten before the monitor reads it, and no substep needs an additional kernel. `accelerations` is None if the
    solver reports `body_qdd`, or nothing needs it.
    """

    def __init__(
        self,
        observables: newton.solvers.SolverBase.Observables,
        substep_count: int,
        accelerations: Accelerations | None = None,
    ) -> None:
        #: The arrays that sensors read.
        self.measured = observables
        #: The measurement of `body_qdd` in the last substep, or None.
        self.accelerations = accelerations
        if accelerations is not None:
            observables.body_qdd = accelerations.values
        #: Overflow bits of each substep and world, shape [substep_count, world_count]; None if the solver has none.
        self.overflow: wp.array | None = None
        self._of: list[Any] = [None] * (substep_count - 1)
        if OVERFLOW in observables.kinds:
            bits: wp.array = getattr(observables, OVERFLOW)
            self.overflow = wp.zeros((substep_count, len(bits)), dtype=int, device=bits.device)
            self._of = [observables.select({OVERFLOW}) for _ in self._of]
        self._of.append(observables)
        if self.overflow is not None:
            for substep, report in enumerate(self._of):
                setattr(report, OVERFLOW, self.overflow[substep])
        self._rows = list(_rows(observables))

    def of(self, substep: int) -> Any:
        """Return the observables of one substep, or None if the substep reports nothing."""
        return self._of[substep]

    def forget(self, world_mask: wp.array[wp.bool]) -> None:
        """Zero the reports of the masked worlds, and remove their contacts from the buffer."""
        restore_worlds(self._rows, world_mask)
        model, contacts, forces = self.measured.model, self.measured.contacts, self.measured.contact_f
        if model is None or contacts is None or forces is None:
            return
        inputs = [contacts.rigid_contact_shape0, contacts.rigid_contact_shape1, model.shape_world, world_mask, forces]
        wp.launch(forget_contacts, contacts.rigid_contact_max, inputs, device=model.device)


def _rows(observables: newton.solvers.SolverBase.Observables) -> Iterator[WorldRows]:
    model = observables.model
    assert model is not None, "a solver allocated them"
    for name, array in arrays_of(observables).items():
        worlds = worlds_of_frequency(model, observables.get_attribute_frequency(name))
        if worlds is not None and name != OVERFLOW:
            yield WorldRows.of(array, worlds, model.world_count)


class Accelerations:
    """The observable `body_qdd` [m/s², rad/s²], in the convention of `body_qd`: of the centre of mass, in the world.

    A solver's own accelerations can differ from what its integrator then does: MuJoCo's `qacc` lacks the implicit part
    of damping. The change of the velocities over the substep is exact for all of them.
    """

    def __init__(self, model: newton.Model) -> None:
        #: Accelerations over the last measured substep, shape [body_count].
        self.values: wp.array = wp.zeros_like(present(model.body_qd))
        self._before = wp.zeros_like(self.values)

    def keep(self, state: newton.State) -> None:
        """Keep the velocities at the start of a substep. Solvers may write to the state that they get."""
        if len(self.values):
            wp.copy(self._before, present(state.body_qd))

    def measure(self, state: newton.State, dt: float) -> None:
        """Compute the accelerations at the end of the substep of length `dt` [s], from the state after it."""
        inputs = [self._before, state.body_qd, dt, self.values]
        wp.launch(difference_quotient, len(self.values), inputs, device=self.values.device)
