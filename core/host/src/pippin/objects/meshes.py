"""Meshes and heights from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import newton
import numpy as np
from pippin.array_files import read_arrays
from pippin.assets.usd.stage import open_stage
from pippin.config.files import find_file
from pippin.errors import ConfigError
from pippin.extras import installation

from .configs import ClothMeshConfig
from .shape_configs import HeightfieldConfig, MeshConfig
from .tables import read_table

STAGES = (".usd", ".usda", ".usdc", ".usdz")


def read_mesh(config: MeshConfig | ClothMeshConfig, where: str) -> newton.Mesh:
    """Return the mesh of a file.

    Raises:
        ConfigError: The file is missing, or is not a mesh; or an extra that reads it is not installed.
    """
    file = find_file(config.path, f"{where}.path")
    if config.prim is not None and file.suffix not in STAGES:
        raise ConfigError(f"{where}.prim: {config.prim!r}, but {file.name!r} is no USD stage; leave it out")
    try:
        if file.suffix in STAGES:
            return _whole(_from_stage(file, config.prim, where))
        if file.suffix == ".npz":
            arrays = read_arrays(file)
            return _whole(newton.Mesh(arrays["vertices"], arrays["indices"].reshape(-1)))
        return _whole(newton.Mesh.create_from_file(str(file)))
    except ImportError as error:
        extra = "usd" if file.suffix in STAGES else "meshes"
        raise ConfigError(f"{where}.path: {error}; install it by `{installation(extra)}`") from error
    except ConfigError:
        raise
    except Exception as error:  # readers of meshes raise errors of any class
        raise ConfigError(f"{where}.path: {str(file)!r} is no mesh ({type(error).__name__}: {error})") from error


def tetrahedra_of(file: Path) -> newton.TetMesh | None:
    """Return the first mesh of a stage that states its tetrahedra by `tetraIndices`, as stages without TetMesh do."""
    if file.suffix not in STAGES:
        return None
    stage = open_stage(file)  # which its prims need
    for prim in stage.Traverse():
        if prim.HasAttribute("tetraIndices"):
            names = ("points", "tetraIndices")
            points, indices = (np.array(prim.GetAttribute(name).Get()) for name in names)
            return newton.TetMesh(points, indices.ravel())
    return None


def read_heightfield(config: HeightfieldConfig, where: str) -> newton.Heightfield:
    """Return the heights of a file.

    Raises:
        ConfigError: The file is missing, or does not hold rows of finite numbers.
    """
    heights = read_table(config.path, f"{where}.path") * config.scale
    rows, columns = heights.shape
    if min(rows, columns) < 2:
        raise ConfigError(f"{where}.path: must hold at least 2 rows and 2 columns of heights, got {rows} and {columns}")
    length, width = config.size
    return newton.Heightfield(heights, rows, columns, length / 2, width / 2)


def _whole(mesh: newton.Mesh) -> newton.Mesh:
    if not len(mesh.indices) or not np.isfinite(mesh.vertices).all():
        raise ValueError("it has no triangles" if not len(mesh.indices) else "a vertex is not finite")
    return mesh


def _from_stage(file: Path, prim: str | None, where: str) -> newton.Mesh:
    stage: Any = open_stage(file)
    meshes = [str(each.GetPath()) for each in stage.Traverse() if each.GetTypeName() == "Mesh"]
    chosen = meshes[0] if prim is None and len(meshes) == 1 else prim
    if chosen not in meshes:
        got = "it names none" if prim is None else f"got {prim!r}"
        raise ConfigError(f"{where}.prim: must name a mesh of {file.name!r}, {got}; meshes: {', '.join(meshes[:12])}")
    return newton.usd.get_mesh(stage.GetPrimAtPath(chosen))
