"""Expansion of xacro files, by the library `xacro`."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pippin.errors import ConfigError

from .packages import Packages


def is_xacro(file: Path) -> bool:
    """Return whether a file has macros, by its suffix."""
    return file.suffix.lower() == ".xacro"


def expand(file: Path, arguments: Mapping[str, str], packages: Packages, where: str) -> bytes:
    """Return the URDF of a xacro file, with values of its `<xacro:arg>` and a search behind `$(find name)`."""
    try:
        import xacro
        from xacro import substitution_args
    except ImportError as error:
        what = f"{where}.path: {str(file)!r} is a xacro file, and the library for it is missing"
        raise ConfigError(f"{what}; install pippin[xacro], or use `uv run --group xacro`") from error
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), _finding(substitution_args, packages):
            document: Any = xacro.process_file(str(file), mappings=dict(arguments))
            return document.toxml("utf-8")
    except Exception as error:  # expressions in the file raise errors of any class
        raise ConfigError(f"{where}.path: {str(file)!r}: {_reason(error)}") from error


@contextlib.contextmanager
def _finding(substitution_args: Any, packages: Packages) -> Iterator[None]:
    """Let `$(find name)` search as `package://name` does, in place of ROS's index, which is not part of the library."""

    def find(name: str) -> str:
        folder = packages.find_package(name)
        if folder is None:
            raise LookupError(f"$(find {name}): {packages.cure(f'package://{name}')}")
        return str(folder)

    own = substitution_args._eval_find
    try:
        substitution_args._eval_find = substitution_args._eval_dict["find"] = find
        yield
    finally:
        substitution_args._eval_find = substitution_args._eval_dict["find"] = own


def _reason(error: Exception) -> str:
    """Return what the library says on one line, and the remedy that fits."""
    text = " ".join(str(error).split()) or type(error).__name__
    if "package_dirs" in text:
        return text
    if "Undefined substitution argument" in text:
        return f"{text}; give the argument in xacro_args"
    return f"xacro: {text}; correct the file, or give other xacro_args"
