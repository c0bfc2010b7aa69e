"""Articulations and worlds that the rows of a view belong to, marked when their state or their model is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host

from .indexing import PADDING
from .kernels.marks import Marks

__all__ = ["RowMarks"]


class RowMarks:
    """Marks the articulations and worlds of written rows in masks of the host.

    Args:
        device: The device of the masks.
        masks: The masks of articulations and of worlds, the latter of shape [world_count + 1].
        articulation_of: Articulation of each row, shape [count]; -1 for no articulation.
        world_of: World of each row, shape [count]; -1 for no world.
    """

    def __init__(
        self,
        device: wp.Device,
        masks: tuple[wp.array[wp.bool], wp.array[wp.bool]],
        articulation_of: np.ndarray,
        world_of: np.ndarray,
    ) -> None:
        of = [wp.array(each.astype(np.int32), dtype=int, device=device) for each in (articulation_of, world_of)]
        #: The marks as an argument of kernels that mark the rows they write.
        self.argument: Any = Marks()
        self.argument.articulation_of, self.argument.world_of = of
        self.argument.articulation_mask, self.argument.world_mask = masks
        self.world_of = of[1]
        in_worlds = np.where(world_of == PADDING, len(masks[1]) - 1, world_of)
        self._near: Sequence[_Bits] = ()
        if device.is_cpu:
            self._near = [_Bits(mask, index) for mask, index in zip(masks, (articulation_of, in_worlds), strict=True)]

    @classmethod
    def of_state(cls, host: Host, articulation_of: np.ndarray, world_of: np.ndarray) -> RowMarks:
        """Return the marks of rows whose joints are written, from which the host computes the bodies."""
        return cls(present(host.model.device), host.services.written.masks("joints"), articulation_of, world_of)

    @classmethod
    def of_model(cls, host: Host, world_of: np.ndarray) -> RowMarks | None:
        """Return the marks of rows whose model is written; None if the solver does not ask for the worlds."""
        changed = host.services.model_changes.worlds
        if not changed.is_asked:
            return None
        device, no_articulation = present(host.model.device), np.full_like(world_of, PADDING)
        return cls(device, (wp.zeros(0, dtype=bool, device=device), changed.mask), no_articulation, world_of)

    def mark(self, rows: np.ndarray | None) -> None:
        """Mark some rows, or all. Only on the CPU, and outside captures."""
        for bits in self._near:
            bits.mark(rows)


class _Bits:
    """A mask on the CPU, and the element of it that belongs to each row; -1 for none."""

    def __init__(self, mask: wp.array, index: np.ndarray) -> None:
        self._bits: np.ndarray = mask.numpy()
        self._index = index
        self._has_gaps = bool((index == PADDING).any())
        self._is_own_index = bool((index == np.arange(len(index))).all())
        self._all: Any = slice(0, len(index)) if self._is_own_index else np.unique(index[index != PADDING])

    def mark(self, rows: np.ndarray | None) -> None:
        if rows is None:
            self._bits[self._all] = True
            return
        chosen = rows if self._is_own_index else self._index[rows]
        self._bits[chosen[chosen != PADDING] if self._has_gaps else chosen] = True
