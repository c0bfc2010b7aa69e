"""Patches of modules in every process of a lane: each is made right after its module was imported.

A lane makes the CPU behave as a GPU does in one respect. It changes private parts of Warp: it knows one version of it.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent

VARIABLE = "PIPPIN_TEST_LANE"
"""Environment variable that names the lane of this process and of its children."""

WARP = "1.19."
"""What the version of Warp begins with whose private parts the lanes change."""

LANES = tuple(sorted(path.stem for path in HERE.glob("*.py") if "\nPATCHES" in path.read_text(encoding="utf-8")))
"""Names of the lanes: each is a file of this folder that lists its patches."""

Patch = Callable[[ModuleType], object]


def lane_module(name: str) -> ModuleType:
    """Import a lane by its file: a child process does not have this folder's package on its path."""
    spec = importlib.util.spec_from_file_location(f"pippin_lane_{name}", HERE / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def environment(lane: str | None) -> dict[str, str]:
    """Return the environment of a process in a lane, or in none."""
    variables = {name: value for name, value in os.environ.items() if name != VARIABLE}
    startup = str(HERE / "startup")
    paths = [path for path in variables.get("PYTHONPATH", "").split(os.pathsep) if path and path != startup]
    if lane is not None:
        variables[VARIABLE] = lane
        paths.insert(0, startup)
    return {**variables, "PYTHONPATH": os.pathsep.join(paths)}


def patch_imports(patches: Mapping[str, Patch]) -> None:
    """Let each patch change its module as soon as that is imported; Warp's version is checked first.

    Raises:
        RuntimeError: Warp was imported already, or has another version than the lanes know.
    """
    if "warp" in sys.modules:
        raise RuntimeError("Warp was imported before the lane's patches")
    sys.meta_path.insert(0, _Finder({"warp": _check_version, **patches}))


def _check_version(warp: ModuleType) -> None:
    if not warp.__version__.startswith(WARP):
        raise RuntimeError(f"Warp is {warp.__version__}; the lanes know {WARP}x: read tests/lanes and adapt them")


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules as Python does, and calls a patch after some of them."""

    def __init__(self, patches: Mapping[str, Patch]) -> None:
        self._patches = patches

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self._patches:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next((spec for finder in others if (spec := finder.find_spec(name, path, target))), None)
        if spec is not None:
            spec.loader.exec_module = _followed_by(self._patches[name], spec.loader.exec_module)
        return spec


def _followed_by(patch: Patch, execute: Patch) -> Patch:
    def execute_and_patch(module: ModuleType) -> None:
        execute(module)
        patch(module)

    return execute_and_patch
