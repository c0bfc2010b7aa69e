"""The contents of robot files, by name: what a configuration can choose from."""

from .contents import Contents, inspect_assets

__all__ = ["Contents", "inspect_assets"]
