"""Dirty flags of the articulations and worlds of a view's rows, set when their state or their model is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host
from pippin.devices import shares_memory
from pippin.state.kinematics import Coordinates

from .indexing import PADDING
from .kernels.rows import DirtyFlags


class RowFlags:
    """Sets the flags of the articulations and worlds of written rows, in masks of the host.

    The masks are those of articulations and of worlds, the latter of shape [world_count + 1]; -1 is for no world and no
    articulation.
    """

    def __init__(
        self,
        device: wp.Device,
        masks: tuple[wp.array[wp.bool], wp.array[wp.bool]],
        articulation_of: np.ndarray,
        world_of: np.ndarray,
    ) -> None:
        of = [wp.array(each.astype(np.int32), dtype=int, device=device) for each in (articulation_of, world_of)]
        #: The flags as an argument of kernels that set those of the rows they write.
        self.argument: Any = DirtyFlags()
        self.argument.articulation_of, self.argument.world_of = of
        self.argument.articulations, self.argument.worlds = masks
        self.world_of = of[1]
        in_worlds = np.where(world_of == PADDING, len(masks[1]) - 1, world_of)
        self._masks: Sequence[_Mask] = ()
        if shares_memory(device):
            self._masks = [_Mask(mask, index) for mask, index in zip(masks, (articulation_of, in_worlds), strict=True)]

    @classmethod
    def of_state(cls, host: Host, what: Coordinates, articulation_of: np.ndarray, world_of: np.ndarray) -> RowFlags:
        """Return the flags of rows whose joints, bodies or particles are written, which the rest follows."""
        return cls(present(host.model.device), host.services.written.masks(what), articulation_of, world_of)

    @classmethod
    def of_model(cls, host: Host, world_of: np.ndarray) -> RowFlags | None:
        """Return the flags of rows whose model is written; None if the solver does not ask for the worlds."""
        changed = host.services.model_changes.worlds
        if not changed.is_asked:
            return None
        device, no_articulation = present(host.model.device), np.full_like(world_of, PADDING)
        return cls(device, (wp.zeros(0, dtype=bool, device=device), changed.mask), no_articulation, world_of)

    def set(self, rows: np.ndarray | None) -> None:
        """Set the flags of some rows, or of all. Only in shared memory, and outside captures."""
        for mask in self._masks:
            mask.set(rows)


class _Mask:
    """A mask in shared memory, and the element of it that belongs to each row; -1 for none."""

    def __init__(self, mask: wp.array, index: np.ndarray) -> None:
        self._flags: np.ndarray = mask.numpy()
        self._index = index
        self._has_gaps = bool((index == PADDING).any())
        self._is_own_index = bool((index == np.arange(len(index))).all())
        self._all: Any = slice(0, len(index)) if self._is_own_index else np.unique(index[index != PADDING])

    def set(self, rows: np.ndarray | None) -> None:
        if rows is None:
            self._flags[self._all] = True
            return
        chosen = rows if self._is_own_index else self._index[rows]
        self._flags[chosen[chosen != PADDING] if self._has_gaps else chosen] = True
