"""Reset of worlds to their initial state on the device; the host need not know the worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.errors import ConfigError, PluginError

from .world_rows import WorldRows, state_rows

__all__ = ["WorldReset"]


class WorldReset:
    """The arrays that a reset of worlds restores, and the masks that select worlds.

    Args:
        model: The model of all worlds.
        states: States whose present contents are the initial state.
    """

    def __init__(self, model: newton.Model, states: tuple[newton.State, ...]) -> None:
        self._model = model
        self._rows = [rows for state in states for rows in state_rows(model, state)]

    def add(self, owner: str, arrays: Mapping[str, wp.array], worlds: np.ndarray | None = None) -> None:
        """Add the state arrays of a component; the rows belong to its worlds in equal, consecutive parts.

        Args:
            owner: The component.
            arrays: The state arrays, by name.
            worlds: The worlds of the component; None means all.

        Raises:
            PluginError: The rows cannot be divided among the worlds.
        """
        worlds = np.arange(self._model.world_count) if worlds is None else worlds
        count = len(worlds)
        for name, array in arrays.items():
            if not isinstance(array, wp.array):
                raise PluginError(
                    f"{owner}: state_arrays: {name!r} is no Warp array, but a {type(array).__name__}; keep it in a"
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

    def mask_of(self, worlds: Sequence[int] | np.ndarray | wp.array | None) -> wp.array[wp.bool]:
        """Return the mask of worlds, shape [world_count + 1]. The last entry, of global entities, is set only for None.

        Raises:
            ConfigError: An index is out of range, or a mask has another shape.
        """
        count, device = self._model.world_count, self._model.device
        if isinstance(worlds, wp.array) and worlds.dtype is wp.bool and worlds.shape == (count,):
            mask = wp.zeros(count + 1, dtype=bool, device=device)
            wp.copy(mask, worlds, count=count)
            return mask
        chosen = _chosen_worlds(None if worlds is None else np.asarray(_on_host(worlds)), count)
        return wp.array(chosen, dtype=bool, device=device)

    def restore(self, world_mask: wp.array[wp.bool]) -> None:
        """Restore the initial contents of the masked worlds."""
        for rows in self._rows:
            rows.restore(world_mask)


def _on_host(worlds: Any) -> Any:
    return worlds.numpy() if hasattr(worlds, "numpy") else worlds


def _chosen_worlds(worlds: np.ndarray | None, count: int) -> np.ndarray:
    """Return a host mask of shape [count + 1] from indices or a mask."""
    if worlds is None:
        return np.ones(count + 1, dtype=bool)
    chosen = np.zeros(count + 1, dtype=bool)
    if worlds.dtype == bool:
        if worlds.shape != (count,):
            raise ConfigError(f"worlds: expected a mask of shape [{count}], got {list(worlds.shape)}")
        chosen[:count] = worlds
        return chosen
    if worlds.size and not np.issubdtype(worlds.dtype, np.integer):
        raise ConfigError(f"worlds: expected integers or booleans, got {worlds.dtype}")
    outside = worlds[(worlds < 0) | (worlds >= count)]
    if outside.size:
        raise ConfigError(f"worlds: {int(outside[0])} is not a world; there are {count}, counted from 0")
    chosen[worlds.astype(int)] = True
    return chosen
