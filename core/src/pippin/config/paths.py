"""Fields that name a file: relative to the file they are written in, wherever the program is started."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

__all__ = ["PACKAGE_PREFIX", "FilePath", "WrittenText", "anchored", "is_file_path"]

PACKAGE_PREFIX = "pkg:"

FilePath = Annotated[str, "file"]
"""A field's type: a path to a file, or `pkg:package/path` inside an installed package."""


class WrittenText(str):
    """A text that knows the folder of the file it was written in."""

    __slots__ = ("folder",)

    folder: Path


def is_file_path(annotation: Any) -> bool:
    """Return whether a type is `FilePath`."""
    return annotation == FilePath


def anchored(text: str) -> str:
    """Return a relative path as an absolute one, where it is known what it is relative to."""
    if not isinstance(text, WrittenText) or text.startswith(PACKAGE_PREFIX):
        return str(text)
    return str(text.folder.absolute() / text)
