"""Faults of the setters of a view that kernels found on the device; the host reads them when it is asked to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import attrs
import warp as wp

from .errors import RowError, ViewError
from .kernels.faults import HELD, INVALID, KIND_COUNT, OUTSIDE, REFUSED
from .memory import alias


@attrs.frozen
class _DeviceFault:
    """The faults of one kind in the calls of one setter."""

    setter: str
    kind: int
    """A constant of `kernels.faults`."""

    count: int
    example: int
    """Row of one of the faults, or the index itself if no row has it."""


class DeviceFaults:
    """The memory of the faults, with a part for each setter, allocated once.

    Args:
        setters: Names of the setters.
        device: Device of the kernels.
    """

    def __init__(self, setters: Sequence[str], device: wp.Device) -> None:
        self._setters = tuple(setters)
        self._memory = wp.zeros((len(self._setters), 2 * KIND_COUNT), dtype=int, device=device)

    def of(self, setter: str) -> wp.array:
        """Return the part of a setter, as an argument of kernels."""
        row = self._setters.index(setter)
        size = wp.types.type_size_in_bytes(wp.int32)
        return alias(self._memory, wp.int32, 2 * KIND_COUNT, offset=row * 2 * KIND_COUNT * size)

    def raise_errors(
        self,
        count: int,
        expected: Callable[[str], str],
        describe: Callable[[int], str],
        what: str = "row",
        solver: str = "",
    ) -> None:
        """Raise one error for all faults since the last call, if there are any. Synchronises with the device.

        Args:
            count: The number of rows.
            expected: Return the values that a setter allows.
            describe: Return the words for a row.
            what: The word for a row.
            solver: Name of the solver.

        Raises:
            RowError: Indices were out of range.
            ViewError: There were faults of other kinds.
        """
        sentences = {
            OUTSIDE: lambda fault: (
                f"{fault.count} indices on the device were out of range, such as {fault.example}, and nothing was"
                f" written for them; there are {count} {what}s, counted from 0"
            ),
            INVALID: lambda fault: (
                f"{fault.count} values on the device were not allowed, such as in {describe(fault.example)}, and were"
                f" not written; expected {expected(fault.setter)}"
            ),
            HELD: lambda fault: (
                f"{fault.count} bodies on the device are held by joints, such as in {describe(fault.example)}, and"
                " were not moved; set the positions and velocities of DOFs instead"
            ),
            REFUSED: lambda fault: (
                f"{fault.count} numbers on the device were not set: solver {solver!r} can have such drives, limits or"
                " properties only at joints that had them when it was built; set scene.settable_joints = true"
            ),
        }
        if faults := list(self._take()):
            error = RowError if faults[0].kind == OUTSIDE else ViewError
            raise error("\n".join(f"{fault.setter}: {sentences[fault.kind](fault)}" for fault in faults))

    def _take(self) -> Iterator[_DeviceFault]:
        """Yield the faults since the last call, and forget them."""
        found = self._memory.numpy().copy()
        if found.any():
            self._memory.zero_()
        for setter, numbers in zip(self._setters, found.tolist(), strict=True):
            for kind in range(KIND_COUNT):
                if count := numbers[2 * kind]:
                    yield _DeviceFault(setter, kind, count, numbers[2 * kind + 1])
