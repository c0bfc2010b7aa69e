"""Faults of the setters of a view that kernels found on the device; the host reads them when it is asked to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import warp as wp

from .exchange import alias
from .kernels.faults import KIND_COUNT

__all__ = ["Fault", "Faults"]


@attrs.frozen
class Fault:
    """The faults of one kind in the calls of one setter."""

    setter: str
    kind: int
    """A constant of `kernels.faults`."""

    count: int
    example: int
    """Row of one of the faults, or the index itself if it is the index of no row."""


class Faults:
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

    def take(self) -> Iterator[Fault]:
        """Yield the faults since the last call, and forget them. Synchronises with the device."""
        found = self._memory.numpy().copy()
        if found.any():
            self._memory.zero_()
        for setter, numbers in zip(self._setters, found.tolist(), strict=True):
            for kind in range(KIND_COUNT):
                if count := numbers[2 * kind]:
                    yield Fault(setter, kind, count, numbers[2 * kind + 1])
