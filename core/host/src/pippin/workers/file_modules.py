"""Modules of files that Python does not find by their names, such as those of plugins, also in other processes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from typing import Any

_MARK = "pippin: a file"


def file_spec(name: str, path: str) -> ModuleSpec:
    """Return the spec of a module that `modules_of_files` finds when it is imported."""
    spec = spec_from_file_location(name, path)
    assert spec is not None, "its name ends with .py"
    spec.loader_state = _MARK
    return spec


def modules_of_files() -> dict[str, str]:
    """Return the files of such modules of this process, by the name of the module."""
    specs: list[Any] = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    return {spec.name: spec.origin for spec in specs if getattr(spec, "loader_state", None) == _MARK}


def find_modules(files: Mapping[str, str]) -> None:
    """Let this process import modules by their names in another one."""
    if files:
        sys.meta_path.append(_FileFinder(files))


class ModulesOfFiles:
    """Files of modules, which another process can find as soon as this is unpickled there; it becomes None."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def __reduce__(self) -> tuple[Any, ...]:
        return find_modules, (dict(self._files),)


class _FileFinder:
    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return file_spec(name, self._files[name]) if name in self._files else None
