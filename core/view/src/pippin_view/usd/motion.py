"""Motion as time samples of a USD layer, written to its file now and then, and of a long run in clips."""

# pyright: reportAttributeAccessIssue=false
# OpenUSD has no types.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.quaternions import product, rotated
from pxr import Gf, Sdf, Vt

from .clips import UsdClips, write_layer
from .matter import MovingPoints, MovingTendon

_CLIP_SIZE = 200_000
"""Poses in a layer after which its samples become a clip: they take about 30 MB of memory."""

_POINTS_OF_A_POSE = 12
"""Points that take as much memory as a pose."""


@attrs.define(eq=False, kw_only=True)
class UsdMotion:
    """The samples of some bodies and points in a layer that is kept in memory, and its file.

    The file is written when the time reaches 1, 2, 4, 8 … s and at the end, each time as a whole, replacing the
    file before: a kill loses at most half of the motion, and every file is whole. Of a long run, the file is written
    with each clip, and the memory holds the samples of one clip.
    """

    layer: Any

    path: Path

    prims: Sequence[str]
    """Path of the prim of each body."""

    bodies: np.ndarray
    """Index of each body in the model, shape [bodies]."""

    suffix: str = ""
    """End of the names of the operations."""

    rotation: np.ndarray = attrs.field(factory=lambda: np.array((0.0, 0.0, 0.0, 1.0)))
    """Rotation from the simulation's frame to that of the layer: unit quaternion (x, y, z, w)."""

    origin: np.ndarray = attrs.field(factory=lambda: np.zeros(3))
    """Origin of the simulation's frame in that of the layer."""

    offsets: np.ndarray
    """Displacement of each body in the simulation's frame, at which its world is drawn, shape [bodies, 3]."""

    points: Sequence[MovingPoints | MovingTendon] = ()
    """Points that move without a body of their own."""

    clip_size: int = attrs.field(factory=lambda: _CLIP_SIZE)
    """Poses in memory after which they become a clip."""

    _names: list[tuple[str, str]] = attrs.field(init=False)
    _clips: UsdClips | None = attrs.field(default=None, init=False)
    _count: int = attrs.field(default=0, init=False)
    _next_save: float = attrs.field(default=1.0, init=False)

    def __attrs_post_init__(self) -> None:
        ends = (f".xformOp:translate{self.suffix}", f".xformOp:orient{self.suffix}")
        self._names = [(f"{prim}{ends[0]}", f"{prim}{ends[1]}") for prim in self.prims]

    def add(self, code: int, body_q: np.ndarray, particle_q: np.ndarray | None = None) -> None:
        """Add a state at a time code: the poses of all bodies of the model and the positions of all particles [m].

        The shapes are [model bodies, 7] and [model particles, 3].
        """
        particles = np.zeros((0, 3)) if particle_q is None else particle_q
        points = [rotated(self.rotation, each.positions(body_q, particles)) + self.origin for each in self.points]
        poses = body_q[self.bodies].astype(float)
        positions = (rotated(self.rotation, poses[:, :3] + self.offsets) + self.origin).tolist()
        rotations = product(self.rotation, poses[:, 3:]).tolist()
        self._add(code, positions, rotations, points)
        if self._count > self.clip_size:
            self._end_clip()
            self._add(code, positions, rotations, points)  # also the first of the next clip: nothing is between clips

    @property
    def notes(self) -> list[str]:
        """A phrase if the motion is in more files than one."""
        if self._clips is None:
            return []
        return [f"the motion of '{self.path.name}' is in the folder '{self._clips.folder.name}'; keep both together"]

    @property
    def layers(self) -> list[Any]:
        """The layers in memory."""
        return [self.layer] if self._clips is None else [self.layer, self._clips.layer]

    def _add(
        self, code: int, positions: list[list[float]], rotations: list[list[float]], points: list[np.ndarray]
    ) -> None:
        layer = self.layer if self._clips is None else self._clips.layer
        with Sdf.ChangeBlock():
            for (translate, orient), position, (x, y, z, w) in zip(self._names, positions, rotations, strict=True):
                layer.SetTimeSample(translate, code, Gf.Vec3d(position))
                layer.SetTimeSample(orient, code, Gf.Quatf(w, x, y, z))
            for each, places in zip(self.points, points, strict=True):
                layer.SetTimeSample(each.name, code, Vt.Vec3fArray.FromNumpy(places.astype(np.float32)))
        self.layer.endTimeCode = code
        self._count += len(self._names) + sum(map(len, points)) // _POINTS_OF_A_POSE

    def _end_clip(self) -> None:
        if self._clips is None:
            names = [name for names in self._names for name in names] + [each.name for each in self.points]
            self._clips = UsdClips(self.layer, self.path, names)
        self._clips.end()
        self._count = 0
        write_layer(self.layer, self.path)

    def save_if_due(self, time: float) -> None:
        """Write the file if the time since its first frame [s] has doubled."""
        if time >= self._next_save:
            self.save()
            while self._next_save <= time:
                self._next_save *= 2.0

    def save(self) -> None:
        """Write the file."""
        if self._clips is not None:
            self._clips.save()
        write_layer(self.layer, self.path)
