"""Elements of one quantity of a view that the built solver lets nobody set, or not to every value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import newton
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.support.solver_support import Range, SolverSupport

from .errors import ViewError
from .kernels.held import hold
from .quantities import ViewQuantity

__all__ = ["Held"]


class Held:
    """Refuses values that the built solver cannot take over, such as a gain of a joint without a drive.

    Data on the host are refused at once, and nothing is written. Data on a CUDA device, and calls that are recorded,
    are not written where they are refused, and counted: `check` raises.

    Args:
        quantity: The quantity.
        support: What the built solver takes over.
        index: Element of Newton's arrays of each row and column, padded with -1.
        faults: The faults of the quantity's setter.
        model: The model.
    """

    def __init__(
        self, quantity: ViewQuantity, support: SolverSupport, index: np.ndarray, faults: wp.array, model: newton.Model
    ) -> None:
        self._support, self._faults = support, faults
        elements = np.unique(index[index >= 0])
        ranges = [support.range_of(name) for name in quantity.arrays]
        self._parts = [None if each is None else _Part(each, elements, present(model.device)) for each in ranges]
        #: Whether every value may be set.
        self.is_empty = not any(part is not None and part.elements.size for part in self._parts)

    @classmethod
    def of(
        cls, quantity: ViewQuantity, support: SolverSupport, index: np.ndarray, faults: wp.array, model: newton.Model
    ) -> Held | None:
        """Return the held elements of a quantity; None if there are none."""
        held = cls(quantity, support, index, faults, model) if quantity.arrays else None
        return None if held is None or held.is_empty else held

    @contextmanager
    def watching(self, where: str, arrays: Sequence[wp.array], *, at_once: bool) -> Iterator[None]:
        """Take back, after the `with` block, what the solver cannot take over. May be recorded.

        Args:
            where: Beginning of the error.
            arrays: The arrays of the quantity, which the block writes.
            at_once: Whether the error is raised now, and every array is as before; otherwise it is only counted.

        Raises:
            ViewError: The block wrote what the solver cannot take over, and `at_once`.
        """
        pairs = [(part, array) for part, array in zip(self._parts, arrays, strict=True) if part is not None]
        for part, array in pairs:
            part.remember(array)
        yield
        if not at_once:
            for part, array in pairs:
                part.hold(array, self._faults)
            return
        refused = [part.refused(array) for part, array in pairs]
        if any(each.size for each in refused):
            for part, array in pairs:
                part.restore(array)
            part, elements = next((part, each) for (part, _), each in zip(pairs, refused, strict=True) if each.size)
            raise ViewError(f"{where}: {self._support.refusal(part.range, elements)}")


class _Part:
    """The held elements of one array.

    Args:
        of: The range of every element of the array.
        elements: Elements of the array that the view may write.
        device: The device of the array.
    """

    def __init__(self, of: Range, elements: np.ndarray, device: wp.Device) -> None:
        self.range = of
        #: The elements that do not take every value.
        self.elements = elements[of.is_limited[elements]]
        self._low, self._high = of.low[self.elements], of.high[self.elements]
        bounds = [wp.array(each, dtype=wp.float32, device=device) for each in (self._low, self._high)]
        self._inputs = [wp.array(self.elements, dtype=int, device=device), *bounds]
        #: The values before a call.
        self.before = wp.zeros(len(of.low), dtype=wp.float32, device=device)

    def remember(self, array: wp.array) -> None:
        """Copy the values."""
        wp.copy(self.before, array)

    def restore(self, array: wp.array) -> None:
        """Write the remembered values back."""
        wp.copy(array, self.before)

    def hold(self, array: wp.array, faults: wp.array) -> None:
        """Take back what is out of its range, and count it."""
        if self.elements.size:
            inputs = [*self._inputs, self.before, faults, array]
            wp.launch(hold, self.elements.size, inputs, device=array.device)

    def refused(self, array: wp.array) -> np.ndarray:
        """Return the elements that changed to a value out of their range."""
        new, old = array.numpy()[self.elements], self.before.numpy()[self.elements]
        is_in = (new >= self._low) & (new <= self._high)
        return self.elements[(new != old) & ~is_in]
