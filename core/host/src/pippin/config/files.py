"""Files and folders that a configuration names: their fields, and their search, which imports no package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated, Any

from pippin.errors import ConfigError
from pippin.spelling import did_you_mean

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


def find_file(path: str, where: str) -> Path:
    """Return the file that a configuration names.

    Args:
        path: A path (a relative one starts from the current folder), `pkg:package/path/inside`, or
            `newton:folder/path/inside`.
        where: Key path of `path`, for the error.

    Raises:
        ConfigError: The package is not installed, or there is no such file; names the nearest one, or how to get it.
    """
    if path.startswith(PACKAGE_PREFIX):
        return _find_in_package(path, where)
    if path.startswith(NEWTON_PREFIX):
        from .newton_assets import find_newton_asset  # Newton knows its cache

        return find_newton_asset(path, where)
    file = Path(path).expanduser()
    if not file.is_file():
        raise ConfigError(f"{where}: no file {path!r}{_nearest_entry(file)}")
    return file


def find_folder(path: str, where: str) -> Path:
    """Return the folder that a configuration names; a relative path starts from the current folder."""
    folder = Path(path).expanduser()
    if folder.is_dir():
        return folder.absolute()
    if has_prefix(path) or folder.exists():
        raise ConfigError(f"{where}: not a folder, got {path!r}; name a folder")
    raise ConfigError(f"{where}: no folder {path!r}{_nearest_entry(folder)}")


def _find_in_package(path: str, where: str) -> Path:
    package, _, inside = path.removeprefix(PACKAGE_PREFIX).partition("/")
    if not package.isidentifier() or not inside:
        raise ConfigError(
            f"{where}: not of the form 'pkg:package/path/inside', got {path!r}; name one top-level package"
        )
    # For a top-level name, `find_spec` finds the package without running its code.
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ConfigError(
            f"{where}: package {package!r} of {path!r} is not installed; install the distribution that provides it "
            f"(often of the same name: uv pip install {package})"
        )
    files = [Path(root, inside) for root in spec.submodule_search_locations or ()]
    if not files:
        raise ConfigError(f"{where}: {package!r} of {path!r} is a single module and holds no files; name a package")
    for file in files:
        if file.is_file():
            return file
    raise ConfigError(f"{where}: package {package!r} has no file {inside!r}{_nearest_entry(files[0])}")


def _nearest_entry(missing: Path) -> str:
    if missing.is_dir():
        return "; it is a folder, name a file in it"
    step = missing
    while not step.parent.is_dir():
        step = step.parent
    entries = sorted(entry.name for entry in step.parent.iterdir())
    return f" ({str(step.parent)!r} has no {step.name!r}){did_you_mean(step.name, entries) or '; correct the path'}"
