"""Fields that name a file, relative to the configuration file and not to the current folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

PACKAGE_PREFIX = "pkg:"
"""Prefix of a path inside an installed package."""

NEWTON_PREFIX = "newton:"
"""Prefix of a path in the cache of Newton's downloads."""

FilePath = Annotated[str, "file"]
"""Type of a field for the path of a file, for `pkg:package/path` inside an installed package, or for
`newton:folder/path` in the cache of Newton's downloads."""


class WrittenText(str):
    """A string from a file, with the folder of that file."""

    __slots__ = ("folder",)

    folder: Path


def is_file_path(annotation: Any) -> bool:
    """Return whether a type is `FilePath`."""
    return annotation == FilePath


def has_prefix(path: str) -> bool:
    """Tell whether a path begins in a package or in the cache of Newton, and not in a folder."""
    return path.startswith((PACKAGE_PREFIX, NEWTON_PREFIX))


def anchored(text: str) -> str:
    """Return a relative path as an absolute one if the folder of its file is known, else unchanged."""
    if not isinstance(text, WrittenText) or has_prefix(text):
        return str(text)
    return str(text.folder.absolute() / text)
