"""Faults of the setters of a view that kernels found on the device; the host reads them when it is asked to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import warp as wp

from .errors import RowError, ViewError
from .kernels.rows import HELD, INVALID, KIND_COUNT, OUTSIDE
from .memory import alias


class DeviceFaults:
    """The memory of the faults, with a part for each setter, by its name."""

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

        `expected` returns the values that a setter allows, and `describe` the words for one of the `count` rows.

        Raises:
            RowError: Indices were out of range.
            ViewError: There were faults of other kinds.
        """
        parts = zip(self._setters, self._memory.numpy().reshape(-1, KIND_COUNT, 2).tolist(), strict=True)
        faults = [(setter, kind, *part[kind]) for setter, part in parts for kind in range(KIND_COUNT) if part[kind][0]]
        if not faults:
            return
        self._memory.zero_()

        def sentence(setter: str, kind: int, fault_count: int, example: int) -> str:
            """Return the words for faults of a kind; the example is a row, or an index if no row has it."""
            if kind == OUTSIDE:
                return (
                    f"{fault_count} indices on the device were out of range, such as {example}, and nothing was written"
                    f" for them; there are {count} {what}s, counted from 0"
                )
            if kind == INVALID:
                return (
                    f"{fault_count} values on the device were not allowed, such as in {describe(example)}, and were not"
                    f" written; expected {expected(setter)}"
                )
            if kind == HELD:
                return (
                    f"{fault_count} bodies on the device are held by joints, such as in {describe(example)}, and were"
                    " not moved; set the positions and velocities of DOFs instead"
                )
            return (
                f"{fault_count} numbers on the device were not set: solver {solver!r} can have such drives, limits or"
                " properties only at joints that had them when it was built; set scene.settable_joints = true"
            )

        error = RowError if faults[0][1] == OUTSIDE else ViewError
        raise error("\n".join(f"{fault[0]}: {sentence(*fault)}" for fault in faults))
