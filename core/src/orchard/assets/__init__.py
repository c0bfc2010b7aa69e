"""Assets: files that Newton's importers turn into bodies, joints and shapes."""

from .importing import Asset, find_assets, import_asset

__all__ = ["Asset", "find_assets", "import_asset"]
