"""Reset of worlds to their initial state on the device; the host need not know the worlds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.errors import PluginError
from pippin.indices import IndexRange

from .kernels import count_draws
from .world_rows import WorldRows, control_rows, restore_worlds, state_rows


class WorldReset:
    """The arrays that a reset of worlds restores, and the masks that select worlds."""

    def __init__(
        self, model: newton.Model, states: tuple[newton.State, ...], control: newton.Control | None = None
    ) -> None:
        self._model = model
        #: Number of resets of each world so far, shape [world_count].
        self.counts = wp.zeros(model.world_count, dtype=int, device=model.device)
        self._rows = [rows for state in states for rows in state_rows(model, state)]
        self._rows += [] if control is None else control_rows(model, control)

    def add(self, owner: str, arrays: Mapping[str, wp.array], worlds: np.ndarray | None = None) -> None:
        """Add the state arrays of a component; the rows belong to its worlds (None for all) in equal parts."""
        worlds = np.arange(self._model.world_count) if worlds is None else worlds
        count = len(worlds)
        for name, array in arrays.items():
            if not isinstance(array, wp.array):
                raise PluginError(
                    f"{owner}: state_arrays: {name!r} is not a Warp array, but a {type(array).__name__}; keep it in a"
                    " Warp array, or answer reset_worlds"
                )
            if not array.size:
                continue  # Warp calls an empty array not contiguous, and there is nothing to restore
            if not array.is_contiguous or len(array) % count:
                raise PluginError(
                    f"{owner}: state array {name!r} of shape {array.shape} cannot be divided among {count} worlds;"
                    " make its first axis a multiple of the number of worlds, or answer reset_worlds"
                )
            world_of_row = np.repeat(worlds, len(array) // count)
            self._rows.append(WorldRows.of(array, world_of_row, self._model.world_count))

    def mask_of(self, worlds: Any, where: str) -> wp.array[wp.bool]:
        """Return the mask of worlds, shape [world_count + 1]. The last entry, of global entities, is set only for None.

        The worlds are indices, a mask, or None for all; a mask on the device is not read by the host.

        Raises:
            ConfigError: An index is out of range, or a mask has another shape.
        """
        count, device = self._model.world_count, self._model.device
        if isinstance(worlds, wp.array) and worlds.dtype is wp.bool and worlds.shape == (count,):
            mask = wp.zeros(count + 1, dtype=bool, device=device)
            wp.copy(mask, worlds, count=count)
            return mask
        chosen = np.append(IndexRange(count).mask(worlds, where), worlds is None)
        return wp.array(chosen, dtype=bool, device=device)

    def restore(self, world_mask: wp.array[wp.bool]) -> None:
        """Restore the initial contents of the masked worlds, and count their reset. May be recorded."""
        wp.launch(count_draws, len(self.counts), [world_mask, self.counts], device=self.counts.device)
        restore_worlds(self._rows, world_mask)
