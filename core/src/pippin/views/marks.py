"""Articulations and worlds that the rows of a view belong to, marked when rows are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host

from .kernels.marks import Marks, mark

__all__ = ["RowMarks"]


class RowMarks:
    """Marks the articulations and worlds of written rows in the masks of the host.

    Args:
        host: Whose masks they are.
        articulation_of: Articulation of each row, shape [count]; -1 for none.
        world_of: World of each row, shape [count]; -1 for no world.
    """

    def __init__(self, host: Host, articulation_of: np.ndarray, world_of: np.ndarray) -> None:
        device = host.model.device
        of = [wp.array(each.astype(np.int32), dtype=int, device=device) for each in (articulation_of, world_of)]
        #: The same for kernels that mark the rows they write.
        self.argument: Any = Marks()
        self.argument.articulation_of, self.argument.world_of = of
        self.argument.articulation_mask, self.argument.world_mask = host.written.masks("joints")
        self.world_of = of[1]
        self._mark_all: Callable[[], Any] = (
            present(wp.launch(mark, len(world_of), [self.argument], device=device, record_cmd=True)).launch
            if len(world_of)
            else _nothing
        )

    def mark_all(self) -> None:
        """Mark all rows. May be recorded."""
        self._mark_all()


def _nothing() -> None:
    """Do nothing: there are no rows."""
