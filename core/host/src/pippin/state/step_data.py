"""The contents of a simulation: all data that a step reads and changes, for comparison, undoing and saving."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import newton
from warp import fem

from .checkpoint import PersistentState
from .snapshot import Snapshot, find_arrays, python_values
from .state_record import StateRecord


@attrs.frozen(kw_only=True, eq=False)
class StepData:
    """The objects that a step reads and changes, by name; a walk finds their arrays and numbers."""

    outputs: Mapping[str, Any]
    """States, inputs and reports."""

    acting: Mapping[str, Any]
    """The components, and the objects that recorded callbacks reach."""

    inner: Mapping[str, Any]
    """The solver and the host's own objects; their scratch memory may differ between two runs."""

    hosts: frozenset[str]
    """Names of objects whose values on the host are saved, too."""

    model: newton.Model

    opaque: tuple[type, ...]
    """Classes whose instances own nothing that a step changes."""

    def record(self) -> StateRecord:
        """Return copies of the data that must be equal in two runs: states, inputs, and the memory of components."""
        # Buffers of a field may be longer than what is written: the rest is what another user of the store left there.
        of_newton = (newton.solvers.SolverBase, newton.Contacts, newton.CollisionPipeline)
        private = (*self.opaque, *of_newton, fem.DiscreteField)
        # The record holds values only: a callback does not keep its object alive.
        counts = {name: python_values(each, skip=private) for name, each in self.acting.items()}
        return StateRecord(find_arrays({**self.outputs, **self.acting}, skip=private), counts)

    def snapshot(self, more: Mapping[str, Any] | None = None) -> Snapshot:
        """Return a snapshot of everything that a step can change, and of `more`, if there is more."""
        return Snapshot({**self._changing, **(more or {})}, skip=self.opaque)

    @property
    def persistent(self) -> PersistentState:
        """The data of a checkpoint: objects that a step changes, and the model, which a user may have changed."""
        model = {name: value for name, value in vars(self.model).items() if not name.startswith("_")}
        return PersistentState({**self._changing, "model": model}, self.hosts, self.opaque)

    @property
    def _changing(self) -> dict[str, Any]:
        return {**self.outputs, **self.acting, **self.inner}
