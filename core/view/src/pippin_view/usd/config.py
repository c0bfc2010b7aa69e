"""The settings of a USD layer of a run."""

from __future__ import annotations

from typing import ClassVar

import attrs
from pippin.viewing import FileViewerConfig


@attrs.frozen(kw_only=True)
class UsdConfig(FileViewerConfig):
    """The motion of bodies in USD, as `.usdc` (the default), `.usda` or `.usd`.

    If the scene's only asset is a USD stage, the file is a layer of motion over this stage, which keeps its geometry
    and materials. Otherwise the file holds the shapes of the model that can be seen, cloth and soft bodies as meshes,
    grains as points and cables as curves. A long motion, of more than
    200 000 poses of bodies, is in value clips in a folder beside the file.
    """

    implementation = ".viewer:ViewerUSD"
    extra = "usd"
    suffixes: ClassVar[tuple[str, ...]] = (".usdc", ".usda", ".usd")

    physics: bool = False
    """Whether a program that opens the layer may simulate its bodies, in place of playing the motion."""
