"""Terrain of a scene: patches of ground in rows and columns, which all worlds share.

Each kind of patches is a plugin, which derives from `Patch`, with settings that derive from `PatchConfig`.
"""

from typing import TYPE_CHECKING

from pippin.late import late

from .patch import Block, Ground, Patch, PatchConfig

if TYPE_CHECKING:
    from .grid import TerrainGrid

__all__ = ["Block", "Ground", "Patch", "PatchConfig", "TerrainGrid"]

__getattr__ = late(__name__)
