"""Copies of an object: their labels, and their poses in the world."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pippin.config.geometry import UPRIGHT
from pippin.quaternions import product, rotated

from .object_config import ObjectConfig, RepeatConfig
from .tables import read_table


def placed_copies(config: ObjectConfig, where: str) -> dict[str, np.ndarray]:
    """Return the pose of each copy of an object in the world by its label: position [m] and quaternion, shape [7]."""
    rows = _relative_poses(config, where)
    if rows is None:
        return {config.label: np.array([*config.position, *config.rotation])}
    turn = np.array(config.rotation)
    offsets = rows[:, :3] if config.repeat is not None else rotated(turn, rows[:, :3])
    poses = np.concatenate([offsets + np.array(config.position), product(turn, rows[:, 3:])], axis=1)
    return {f"{config.label}_{number}": pose for number, pose in enumerate(poses)}


def _relative_poses(config: ObjectConfig, where: str) -> np.ndarray | None:
    """Return the poses of copies relative to the object, shape [copies, 7]; None if there is one object."""
    if config.repeat is not None:
        rows = _positions(config.repeat)
    elif isinstance(config.poses, str):
        rows = read_table(config.poses, f"{where}.poses", (3, 7))
    elif config.poses:
        return np.array([[*pose[:3], *(pose[3:] or UPRIGHT)] for pose in config.poses])
    else:
        return None
    return rows if rows.shape[1] == 7 else np.concatenate([rows, np.tile(UPRIGHT, (len(rows), 1))], axis=1)


def _places(repeat: RepeatConfig) -> Iterator[tuple[float, int, int]]:
    """Yield the place of each copy in units of the spacing, x first."""
    columns, rows, layers = repeat.count
    for layer in range(layers):
        missing = layer if repeat.pattern == "triangle" else 0
        for row in range(rows):
            yield from ((column + missing / 2, row, layer) for column in range(columns - missing))


def _positions(repeat: RepeatConfig) -> np.ndarray:
    """Return the position of each copy relative to the first [m], shape [copies, 3]."""
    places = np.array(list(_places(repeat)), dtype=float)
    positions = places * np.array(repeat.spacing) + (places[:, 2:] % 2) * np.array(repeat.shift)
    if repeat.jitter:
        draws = np.random.default_rng(repeat.seed).uniform(-1.0, 1.0, positions.shape)
        positions += draws * repeat.jitter
    return positions
