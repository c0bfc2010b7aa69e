"""Elements of some arrays of a view that are read-only: the built solver cannot take over every value there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import newton
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.devices import shares_memory
from pippin.support.solver_support import Range, SolverSupport

from .errors import ViewError
from .exchange import CheckedData
from .kernels.read_only import restore


class ReadOnlyElements:
    """Refuses values that the built solver cannot take over, such as a gain of a joint without a drive.

    Data on the host are refused at once, and nothing is written. Data on a CUDA device, and calls that are recorded,
    are not written where they are refused, and counted: `raise_errors` raises.
    """

    def __init__(
        self, names: Sequence[str], support: SolverSupport, index: np.ndarray, faults: wp.array, model: newton.Model
    ) -> None:
        self._support, self._faults = support, faults
        elements = np.unique(index[index >= 0])
        ranges = [support.range_of(name) for name in names]
        self._limited = [
            None if each is None else _LimitedElements(each, elements, present(model.device)) for each in ranges
        ]
        #: Whether every value may be set.
        self.is_empty = not any(limited is not None and limited.elements.size for limited in self._limited)

    @contextmanager
    def watching(self, where: str, arrays: Sequence[wp.array], checked: CheckedData) -> Iterator[None]:
        """Restore, after the `with` block, what the solver cannot take over. May be recorded.

        Raises:
            ViewError: The block wrote what the solver cannot take over, and the host has waited for the data: then
                every array is as before.
        """
        device = present(arrays[0].device)
        at_once = (checked.numbers is not None or shares_memory(device)) and not device.is_capturing
        pairs = [(each, array) for each, array in zip(self._limited, arrays, strict=True) if each is not None]
        for limited, array in pairs:
            wp.copy(limited.before, array)
        yield
        if not at_once:
            for limited, array in pairs:
                limited.restore_refused(array, self._faults)
            return
        refused = [(limited, each) for limited, array in pairs if (each := limited.refused(array)).size]
        if refused:
            for limited, array in pairs:
                wp.copy(array, limited.before)
            limited, elements = refused[0]
            raise ViewError(f"{where}: {self._support.refusal(limited.range, elements)}")


class _LimitedElements:
    """The elements of one array that do not take every value, among those that the view may write."""

    def __init__(self, values: Range, elements: np.ndarray, device: wp.Device) -> None:
        self.range = values
        #: The elements that do not take every value.
        self.elements = elements[values.is_limited[elements]]
        self._low, self._high = values.low[self.elements], values.high[self.elements]
        bounds = [wp.array(each, dtype=wp.float32, device=device) for each in (self._low, self._high)]
        self._inputs = [wp.array(self.elements, dtype=int, device=device), *bounds]
        #: The values before a call.
        self.before = wp.zeros(len(values.low), dtype=wp.float32, device=device)

    def restore_refused(self, array: wp.array, faults: wp.array) -> None:
        """Restore elements that are out of their range, and count them."""
        if self.elements.size:
            inputs = [*self._inputs, self.before, faults, array]
            wp.launch(restore, self.elements.size, inputs, device=array.device)

    def refused(self, array: wp.array) -> np.ndarray:
        """Return the elements that changed to a value out of their range."""
        new, old = array.numpy()[self.elements], self.before.numpy()[self.elements]
        is_in = (new >= self._low) & (new <= self._high)
        return self.elements[(new != old) & ~is_in]
