"""Value clips: the time samples of a long motion in files of their own, which OpenUSD opens when it plays them."""

# pyright: reportAttributeAccessIssue=false
# OpenUSD has no types.

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pippin import SimulationError
from pxr import Sdf, Tf, Vt


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
        """Let the root refer to one more clip, from a time code on."""
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
        """Return a layer with some attributes of the root, and their samples."""
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
