"""The contents of a simulation: everything that a step reads and changes, to be compared, undone or saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import newton

from .checkpoint import Carried
from .outcome import Outcome
from .snapshot import Snapshot, find_arrays, python_values

__all__ = ["Contents"]


@attrs.frozen(kw_only=True, eq=False)
class Contents:
    """The objects that a step reads and changes, by name; their arrays and numbers are found by walking them."""

    outputs: Mapping[str, Any]
    """States, inputs and reports."""

    acting: Mapping[str, Any]
    """The components, and the objects that recorded callbacks reach."""

    inner: Mapping[str, Any]
    """The solver and the memory of the host, which may differ between two runs if it is scratch memory."""

    hosts: frozenset[str]
    """Names whose values on the host are saved too."""

    model: newton.Model

    opaque: tuple[type, ...]
    """Classes whose instances hold nothing of their own that a step changes."""

    def outcome(self) -> Outcome:
        """Return copies of what two runs must bring about alike: states, inputs, and the memory of components."""
        private = (*self.opaque, newton.solvers.SolverBase, newton.Contacts, newton.CollisionPipeline)
        # Nothing is kept but values: a callback does not keep its object alive.
        counts = {name: python_values(each, skip=private) for name, each in self.acting.items()}
        return Outcome(find_arrays({**self.outputs, **self.acting}, skip=private), counts)

    def snapshot(self, more: Mapping[str, Any] | None = None) -> Snapshot:
        """Return a snapshot of everything that a step can change, and of `more`."""
        return Snapshot({**self._changing, **(more or {})}, skip=self.opaque)

    @property
    def carried(self) -> Carried:
        """The contents of a checkpoint: what a step changes, and what a user may have changed in the model."""
        model = {name: value for name, value in vars(self.model).items() if not name.startswith("_")}
        return Carried({**self._changing, "model": model}, self.hosts, self.opaque)

    @property
    def _changing(self) -> dict[str, Any]:
        return {**self.outputs, **self.acting, **self.inner}
