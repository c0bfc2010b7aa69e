"""Fields that name a file, relative to the configuration file and not to the current folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

PACKAGE_PREFIX = "pkg:"

FilePath = Annotated[str, "file"]
"""Type of a field for the path of a file, or `pkg:package/path` inside an installed package."""


class WrittenText(str):
    """A string from a file, with the folder of that file."""

    __slots__ = ("folder",)

    folder: Path


def is_file_path(annotation: Any) -> bool:
    """Return whether a type is `FilePath`."""
    return annotation == FilePath


def anchored(text: str) -> str:
    """Return a relative path as an absolute one if the folder of its file is known, else unchanged."""
    if not isinstance(text, WrittenText) or text.startswith(PACKAGE_PREFIX):
        return str(text)
    return str(text.folder.absolute() / text)
