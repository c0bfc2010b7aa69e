"""Assets: files that Newton's importers turn into bodies, joints and shapes."""

from .actuator_schemas import JOINT_TYPES, PRIM_TYPE, TARGETS
from .actuators import find_prim_actuators
from .importing import Asset, find_assets, import_asset

__all__ = ["JOINT_TYPES", "PRIM_TYPE", "TARGETS", "Asset", "find_assets", "find_prim_actuators", "import_asset"]
