"""The contents of a simulation: all data that a step reads and changes, for comparison, undoing and saving."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from warp import fem

from .checkpoint import PersistentState
from .snapshot import Snapshot, find_arrays, python_values


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


_NOISE_FACTOR = 10.0
"""Largest distance between runs of two kinds, in units of the largest one between runs of the same kind."""


class StateRecord:
    """The contents of some arrays, and the Python values of some objects, such as counters.

    Args:
        arrays: The arrays, by name; their contents are copied.
        counts: Python values, by the name of the object and of its attribute.
    """

    def __init__(self, arrays: Mapping[str, wp.array], counts: Mapping[str, Mapping[str, Any]]) -> None:
        #: Contents of the arrays, by name, each with the shape of its array.
        self.arrays: dict[str, np.ndarray] = {}
        for name, array in arrays.items():
            values = array.numpy()
            # NumPy's own copy does not set the bytes between the fields of a struct.
            self.arrays[name] = np.ndarray(values.shape, values.dtype, values.tobytes())
        #: Python values, by owner and attribute.
        self.counts: dict[str, dict[str, Any]] = {owner: dict(values) for owner, values in counts.items()}

    def __eq__(self, other: object) -> bool:
        """Compare every bit: a NaN equals the same NaN."""
        return isinstance(other, StateRecord) and self.difference(other) is None

    __hash__ = None

    def difference(self, other: StateRecord) -> str | None:
        """Return a description of the first difference between `other` and this record, or None."""
        return difference_beyond_noise([self], [other])


def difference_beyond_noise(called: Sequence[StateRecord], replayed: Sequence[StateRecord]) -> str | None:
    """Return a description of the first difference between eager runs and replays of the same steps, or None.

    A GPU runs atomic additions in any order, so that runs of the same kind may differ. An array is the same if the
    nearest two runs, one of each kind, are at most ten times as far apart as the farthest two of one kind.
    """
    for owner, values in called[0].counts.items():
        for name, value in values.items():
            other = replayed[0].counts.get(owner, {}).get(name)
            if other != value and not (other != other and value != value):  # two NaNs count as equal
                return f"leaves {name!r} of {owner} as it was, which Python code changes in every eager step"
    for name in called[0].arrays:
        one, other = ([record.arrays.get(name) for record in records] for records in (called, replayed))
        if any(each is None for each in other):
            return f"differs from eager steps in {name}"
        nearest = min(_distance(left, right) for left in one for right in other)
        pairs = [*combinations(one, 2), *combinations(other, 2)] if nearest else []
        if nearest > _NOISE_FACTOR * max((_distance(*pair) for pair in pairs), default=0.0):
            return f"differs from eager steps in {name}"
    return None


def _distance(one: np.ndarray | None, other: np.ndarray | None) -> float:
    """Return the largest difference of two numbers in the same place; it is zero only if all bits are equal."""
    if one is None or other is None or one.shape != other.shape:
        return math.inf
    if one.tobytes() == other.tobytes():
        return 0.0
    if one.dtype.kind not in "fiub":
        one, other = (np.frombuffer(each.tobytes(), np.uint8) for each in (one, other))
    left, right = one.astype(float), other.astype(float)
    with np.errstate(invalid="ignore"):
        gaps = np.where((left == right) | (np.isnan(left) & np.isnan(right)), 0.0, np.abs(left - right))
    return max(float(np.where(np.isnan(gaps), math.inf, gaps).max()), sys.float_info.min)
