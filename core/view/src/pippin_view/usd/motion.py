"""Motion as time samples of a USD layer, written to its file now and then, and of a long run in value clips."""

# pyright: reportAttributeAccessIssue=false
# OpenUSD has no types.

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import SimulationError
from pippin.quaternions import product, rotated
from pxr import Gf, Sdf, Tf, Vt


@attrs.frozen(kw_only=True, eq=False)
class MovingPoints:
    """The points of a prim: of a surface, of grains, or of the curve of a cable or a tendon."""

    name: str
    """Path of the attribute."""

    offset: np.ndarray
    """Displacement in the simulation's frame, at which the world is drawn [m], shape [3]."""

    places: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """Returns where the points are in a world that is not displaced [m], shape [points, 3]: for the poses of all bodies
    and the positions of all particles."""


class UsdClips:
    """The clips of a layer; `layer` has the samples of the one that grows.

    Args:
        root: The `Sdf.Layer` with the samples of the first clip, which loses them.
        path: The file of that layer; the clips are in a folder beside it, which is emptied.
        names: Paths of the attributes with samples.

    Raises:
        SimulationError: A file cannot be written.
    """

    def __init__(self, root: Any, path: Path, names: Sequence[str]) -> None:
        self._root, self._names, self._suffix = root, names, path.suffix
        #: The folder of the clips.
        self.folder = path.with_name(f"{path.stem}.clips")
        shutil.rmtree(self.folder, ignore_errors=True)
        #: The clip that grows.
        self.layer = self._copy(names)
        self._starts: list[float] = []
        with Sdf.ChangeBlock():
            for name in names:
                root.GetAttributeAtPath(name).ClearInfo("timeSamples")
        write_layer(self._copy(names), self._file("manifest"))
        self._begin()

    def end(self) -> None:
        """Write the clip that grows, and begin an empty one.

        Raises:
            SimulationError: The file cannot be written.
        """
        self.save()
        last = self.layer.ListTimeSamplesForPath(self._names[0])[-1]
        self.layer = self._copy(self._names)
        self._begin(last)

    def save(self) -> None:
        """Write the clip that grows; if that fails, the file before stays."""
        write_layer(self.layer, self._file(f"{len(self._starts):04}"))

    def _begin(self, start: float = 0.0) -> None:
        self._starts.append(start)
        count, top = len(self._starts), 2.0**40
        files = [self._relative(f"{index:04}") for index in range(1, count + 1)]
        for path in dict.fromkeys(str(Sdf.Path(name).GetPrimPath().GetPrefixes()[0]) for name in self._names):
            clips = {
                "primPath": path,
                "assetPaths": Sdf.AssetPathArray([Sdf.AssetPath(file) for file in files]),
                "manifestAssetPath": Sdf.AssetPath(self._relative("manifest")),
                "active": Vt.Vec2dArray([(start, float(index)) for index, start in enumerate(self._starts)]),
                "times": Vt.Vec2dArray([(0.0, 0.0), (top, top)]),
            }
            self._root.GetPrimAtPath(path).SetInfo("clips", {"default": clips})

    def _copy(self, names: Sequence[str]) -> Any:
        layer: Any = Sdf.Layer.CreateAnonymous(self._suffix)
        with Sdf.ChangeBlock():
            for name in names:
                Sdf.CreatePrimInLayer(layer, Sdf.Path(name).GetPrimPath())
        for name in names:
            Sdf.CopySpec(self._root, name, layer, name)
        return layer

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}{self._suffix}"

    def _relative(self, name: str) -> str:
        return f"./{self.folder.name}/{name}{self._suffix}"


def write_layer(layer: Any, path: Path) -> None:
    """Write an `Sdf.Layer` and replace the file before."""
    partial = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not layer.Export(str(partial)):
            raise OSError(0, "OpenUSD does not say why")
        os.replace(partial, path)
    except (OSError, Tf.ErrorException) as error:
        with suppress(OSError):
            partial.unlink()
        reason = error.strerror if isinstance(error, OSError) else " ".join(str(error).split())[:200]
        raise SimulationError(
            f"'{path}' cannot be written ({reason}); free some space, or choose another path"
        ) from error


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

    points: Sequence[MovingPoints] = ()
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
        places = (each.places(body_q, particles) + each.offset for each in self.points)
        points = [rotated(self.rotation, each) + self.origin for each in places]
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
