"""Queries of a USD stage before Newton's importer reads it: ignored prims, and actuator prims."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from pippin.assets.asset import NOTE
from pippin.config.model import AssetConfig
from pippin.errors import ConfigError
from pippin.labels import match

_LOGGER = logging.getLogger(__name__)

PRIM_TYPE = "NewtonActuator"


def open_stage(file: Path, *, is_quiet: bool = False) -> Any:
    """Return the `Usd.Stage` of a file after registering Newton's schemas. Raises OpenUSD's errors, or ImportError.

    Args:
        file: The file.
        is_quiet: Whether the stage is opened once more, so that what OpenUSD says about it is noted elsewhere.

    Raises:
        ValueError: The stage refers to what is not there.
    """
    import newton_usd_schemas  # noqa: F401  registers the schemas
    from pxr import Usd, UsdUtils

    library: Any = UsdUtils
    held = library.CoalescingDiagnosticDelegate()  # OpenUSD prints it otherwise
    try:
        stage = Usd.Stage.Open(str(file))
    finally:
        said = [" ".join(each.commentary.split()) for each in held.TakeUncoalescedDiagnostics()]
        del held
    if missing := [str(each) for each in stage.GetCompositionErrors()]:
        raise ValueError("; ".join(missing))
    for text in () if is_quiet else said:
        _LOGGER.log(NOTE, f"{file.name}: {text}")
    return stage


def actuator_prims(stage: Any) -> list[Any]:
    """Return the active prims of a stage that are Newton actuators, including prims inside instances."""
    from pxr import Usd

    prims = stage.Traverse(Usd.TraverseInstanceProxies())
    return [prim for prim in prims if prim.GetTypeName() == PRIM_TYPE]


def refuse_broken_meshes(stage: Any, where: str) -> None:
    """Refuse a mesh with points that are no numbers, or whose faces name points that it lacks.

    Native code would write beyond its memory.

    Raises:
        ConfigError: Names the prim.
    """
    from pxr import Usd, UsdGeom

    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        if not prim.IsA(UsdGeom.Mesh):
            continue
        mesh = UsdGeom.Mesh(prim)
        found = (mesh.GetPointsAttr(), mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
        points, counts, indices = (np.asarray(each.Get() or ()) for each in found)
        if not np.isfinite(points).all():
            raise ConfigError(f"{where}: mesh {prim.GetPath()} has a point that is not finite; correct the file")
        is_whole = counts.sum(dtype=np.int64) == len(indices) and counts.min(initial=0) >= 0
        if not is_whole or indices.min(initial=0) < 0 or indices.max(initial=-1) >= len(points):
            raise ConfigError(
                f"{where}: mesh {prim.GetPath()} has faces of points that it lacks ({len(points)} points,"
                f" {len(counts)} faces, {len(indices)} indices); correct the file"
            )


def is_within(path: str, roots: Iterable[str]) -> bool:
    """Tell whether a prim is one of some others, or below one of them."""
    return any(path == root or path.startswith(f"{root}/") for root in roots)


def ignored_paths(stage: Any, config: AssetConfig, where: str) -> list[str]:
    """Return the paths of the prims that the configuration leaves out, with all their descendants."""
    paths = _paths(stage)
    return [paths[i] for i in match(config.ignore, paths, "prim", f"{where}.ignore")] if config.ignore else []


def skipping_patterns(stage: Any, config: AssetConfig, where: str) -> list[str]:
    """Return the expressions that make Newton's importer skip ignored prims and actuators.

    Pippin reads actuators itself: Newton's importer would drive one joint of each, in addition to the joint's drive.
    """
    patterns = [rf"{re.escape(path)}(?:/.*)?\Z" for path in ignored_paths(stage, config, where)]
    actuators = [str(prim.GetPath()) for prim in actuator_prims(stage)]
    others = [path for path in _paths(stage) if path not in actuators]
    return patterns + [_exact(path, others) for path in actuators]


def _exact(path: str, others: list[str]) -> str:
    """Return an expression that matches exactly one prim: a path if possible, since OpenUSD warns of other text."""
    is_prefix = any(other.startswith(path) and not other.startswith(f"{path}/") for other in others)
    return rf"{re.escape(path)}\Z" if is_prefix else path


def _paths(stage: Any) -> list[str]:
    return [str(prim.GetPath()) for prim in stage.Traverse()]
