"""Assets: files that Newton's importers turn into bodies, joints and shapes."""

from .actuators import find_prim_actuators
from .importing import Asset, find_assets, import_asset

__all__ = ["Asset", "find_assets", "find_prim_actuators", "import_asset"]
