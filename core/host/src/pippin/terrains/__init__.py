"""Terrain of a scene: patches of ground in rows and columns, which all worlds share.

Each kind of patches is a plugin, which derives from `Patch`, with settings that derive from `PatchConfig`.
"""

from .ground import Block, Ground
from .patch import Patch
from .patch_config import PatchConfig

__all__ = ["Block", "Ground", "Patch", "PatchConfig"]
