"""Draws: random numbers keyed by name, seed, global world and number of draws in that world.

A world draws the same numbers in a run of any size, in any shard of a run, and whatever other worlds do.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import warp as wp

from .kernels import count_draws


class WorldSeeds:
    """The seed of each world's draws.

    Args:
        count: The number of worlds.
        first: Number of the first world among those of a larger run.
        seed: Seed of all worlds, until `reseed`.
        device: Device of the arrays.
    """

    def __init__(self, count: int, first: int, seed: int, device: wp.Device) -> None:
        #: Number of the first world among those of a larger run.
        self.first: int = first
        #: Seed of each world, shape [worlds].
        self.values: Any = wp.full(count, folded_seed(seed), dtype=int, device=device)
        self._counts: list[tuple[wp.array, np.ndarray]] = []
        self._rows: list[tuple[str, np.ndarray, wp.array]] = []

    def draws(self, name: str, shared: Draws | None = None) -> Draws:
        """Return the random numbers of a name, unique in the simulation such as `actuators:legs/kp`.

        Args:
            name: The name.
            shared: Draws that are counted at the same times, whose counts these share; by default they have their own.
        """
        if shared is not None:
            return Draws(name, self.values, self.first, shared.counts)
        counts = wp.zeros(self.values.shape, dtype=int, device=self.values.device)
        self._counts.append((counts, np.arange(len(counts))))
        return Draws(name, self.values, self.first, counts)

    def rows(self, name: str, worlds: np.ndarray, width: int) -> tuple[wp.array[int], wp.array2d[int]]:
        """Return a seed for each of some worlds, shape [rows], and counts of the draws of each number of a row.

        The seeds are keyed by name, seed and global world; the counts, of shape [rows, width], begin at zero.

        Args:
            name: A text that is unique in the simulation.
            worlds: The world of each row.
            width: Numbers of a row.
        """
        seeds: Any = wp.zeros(len(worlds), dtype=int, device=self.values.device)
        counts: Any = wp.zeros((len(worlds), width), dtype=int, device=self.values.device)
        row = (name, worlds, seeds)
        self._rows.append(row)
        self._counts.append((counts, worlds))
        self._key([row])
        return seeds, counts

    def reseed(self, seeds: np.ndarray, worlds: np.ndarray | None = None) -> None:
        """Set the seeds of worlds, and begin their draws anew. Writes to the device.

        Args:
            seeds: A seed for each world, shape [worlds].
            worlds: The worlds to seed, a boolean mask of shape [worlds]; None means all.
        """
        chosen = np.ones(self.values.shape, dtype=bool) if worlds is None else worlds
        small = np.array([folded_seed(seed) for seed in seeds.tolist()], dtype=np.int32)
        self.values.assign(np.where(chosen, small, self.values.numpy()).astype(np.int32))
        self._key(self._rows)
        for counts, owners in self._counts:
            is_chosen = chosen[owners].reshape(-1, *[1] * (counts.ndim - 1))
            counts.assign(np.where(is_chosen, 0, counts.numpy()).astype(np.int32))

    def _key(self, rows: Iterable[tuple[str, np.ndarray, wp.array]]) -> None:
        seeds = self.values.numpy()
        for name, worlds, keys in rows:
            found = [key_of(f"{seeds[world]}/{self.first + world}/{name}") for world in worlds.tolist()]
            keys.assign(np.array(found, dtype=np.int32))


class Draws:
    """Random numbers of one name in each world; made by `WorldSeeds`.

    Args:
        name: The name.
        seeds: Seed of each world, shape [worlds].
        first: Number of the first world.
        counts: Number of draws in each world so far, shape [worlds].
    """

    def __init__(self, name: str, seeds: wp.array[int], first: int, counts: wp.array[int]) -> None:
        self.key = key_of(name)
        self.counts, self._seeds, self._first = counts, seeds, first

    @property
    def arguments(self) -> list[Any]:
        """Key, seeds, first world and counts: the arguments that `random_state` needs."""
        return [self.key, self._seeds, self._first, self.counts]

    def advance(self, world_mask: wp.array[wp.bool]) -> None:
        """Count a draw in the masked worlds. May be recorded."""
        wp.launch(count_draws, len(self.counts), [world_mask, self.counts], device=self.counts.device)


def key_of(name: str) -> int:
    """Return a number for a name that is the same in every process, unlike Python's own hash of a text."""
    return zlib.crc32(name.encode()) & 0x7FFFFFFF


def folded_seed(seed: int) -> int:
    """Return a seed of 31 bits: a smaller one as it is, a larger one, as some libraries draw them, hashed."""
    return seed if 0 <= seed < 2**31 else zlib.crc32(str(seed).encode()) % 2**31
