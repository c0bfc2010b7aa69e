"""Motion of bodies as time samples of a USD layer, written to its file now and then."""

# pyright: reportAttributeAccessIssue=false
# OpenUSD has no types.

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.errors import SimulationError
from pippin.viewing.quaternions import product, rotated

__all__ = ["UsdMotion"]


@attrs.define(eq=False, kw_only=True)
class UsdMotion:
    """The samples of some bodies in a layer that is kept in memory, and its file.

    The file is written when the time reaches 1, 2, 4, 8 … s and at the end, each time in one piece in place of the
    file before: a kill loses at most half of the motion, and every file is whole.
    """

    layer: Any
    """The `Sdf.Layer`."""

    path: Path
    """The file."""

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

    _names: list[tuple[str, str]] = attrs.field(init=False)
    _next_save: float = attrs.field(default=1.0, init=False)

    def __attrs_post_init__(self) -> None:
        ends = (f".xformOp:translate{self.suffix}", f".xformOp:orient{self.suffix}")
        self._names = [(f"{prim}{ends[0]}", f"{prim}{ends[1]}") for prim in self.prims]

    def add(self, code: int, body_q: np.ndarray) -> None:
        """Add the poses of all bodies of the model at a time code, shape [model bodies, 7]."""
        from pxr import Gf, Sdf

        poses = body_q[self.bodies].astype(float)
        places = (rotated(self.rotation, poses[:, :3] + self.offsets) + self.origin).tolist()
        turns = product(self.rotation, poses[:, 3:]).tolist()
        layer = self.layer
        with Sdf.ChangeBlock():
            for (translate, orient), place, (x, y, z, w) in zip(self._names, places, turns, strict=True):
                layer.SetTimeSample(translate, code, Gf.Vec3d(place))
                layer.SetTimeSample(orient, code, Gf.Quatf(w, x, y, z))
        layer.endTimeCode = code

    def save_if_due(self, time: float) -> None:
        """Write the file if the time since its first frame [s] has doubled.

        Raises:
            SimulationError: The file cannot be written; the one before stays.
        """
        if time >= self._next_save:
            self.save()
            while self._next_save <= time:
                self._next_save *= 2.0

    def save(self) -> None:
        """Write the file.

        Raises:
            SimulationError: The file cannot be written; the one before stays.
        """
        from pxr import Tf

        partial = self.path.with_name(f".{self.path.stem}.part{self.path.suffix}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not self.layer.Export(str(partial)):
                raise OSError(0, "OpenUSD does not say why")
            os.replace(partial, self.path)
        except (OSError, Tf.ErrorException) as error:
            with suppress(OSError):
                partial.unlink()
            reason = error.strerror if isinstance(error, OSError) else " ".join(str(error).split())[:200]
            raise SimulationError(
                f"'{self.path}' cannot be written ({reason}); free some space, or choose another place"
            ) from error
