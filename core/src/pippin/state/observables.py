"""Observables: the reports of a solver, allocated once before anything is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import newton
import warp as wp

from .kernels import forget_contacts
from .world_rows import WorldRows, arrays_of, worlds_of_frequency

__all__ = ["Reports", "allocate_observables"]

OVERFLOW = "overflow"
"""The kind that reports a solver's full buffers, one integer per world; read wherever it is offered."""


def allocate_observables(
    kinds: frozenset[str],
    solver: newton.solvers.SolverBase,
    contacts: newton.Contacts | None,
    substep_count: int,
) -> Reports | None:
    """Return arrays for some observables, and for overflow reports if the solver has them; None for nothing."""
    kinds |= getattr(solver, "supported_observables", frozenset()) & {OVERFLOW}
    return Reports(solver.observables(kinds, contacts=contacts), substep_count) if kinds else None


class Reports:
    """What the solver reports in each substep of a control step.

    The last substep fills what the sensors read. Overflow is reported by each, into a row of its own: a kernel less
    per substep than noting it at once, and none is overwritten before it is noted.

    Args:
        observables: What is filled by the last substep.
        substep_count: Substeps in a control step.
    """

    def __init__(self, observables: newton.solvers.SolverBase.Observables, substep_count: int) -> None:
        self.measured = observables
        """What the sensors read."""
        self.overflow: wp.array | None = None
        """Overflow bits of each substep and world, shape [substep_count, world_count]; None if the solver has none."""
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
        """Return the observables of one substep, or None where it has nothing to report."""
        return self._of[substep]

    def forget(self, world_mask: wp.array[wp.bool]) -> None:
        """Zero what was reported of the masked worlds, and take their contacts out of the buffer."""
        for rows in self._rows:
            rows.restore(world_mask)
        model, contacts, forces = self.measured.model, self.measured.contacts, self.measured.contact_f
        if model is None or contacts is None or forces is None:
            return
        inputs = [contacts.rigid_contact_shape0, contacts.rigid_contact_shape1, model.shape_world, world_mask, forces]
        wp.launch(forget_contacts, contacts.rigid_contact_max, inputs, device=model.device)


def _rows(observables: newton.solvers.SolverBase.Observables) -> Iterator[WorldRows]:
    """Yield what is reported of bodies, joints and the like, whose rows belong to worlds."""
    model = observables.model
    assert model is not None, "a solver allocated them"
    for name, array in arrays_of(observables).items():
        worlds = worlds_of_frequency(model, observables.get_attribute_frequency(name))
        if worlds is not None and name != OVERFLOW:
            yield WorldRows.of(array, worlds, model.world_count)
