"""A USD layer over a user's stage: the bodies move, and everything else stays as it is."""

# pyright: reportAttributeAccessIssue=false
# OpenUSD has no types.

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import newton
import numpy as np
from pippin import AssetConfig, ConfigError
from pippin.arrays import on_host
from pippin.quaternions import product, rotated
from pxr import Gf, Sdf, Usd, UsdGeom

from .motion import UsdMotion

_SUFFIX = ":pippin"
"""End of the names of operations, so that none meets one of the stage with another type."""


def overlay(
    path: Path,
    stage_file: Path,
    asset: AssetConfig,
    model: newton.Model,
    worlds: np.ndarray,
    offsets: np.ndarray,
    *,
    is_simulated: bool,
) -> tuple[UsdMotion, list[str]]:
    """Return the motion over a stage, without samples so far, and notes.

    One world has the stage as a sublayer; several, displaced by offsets [m], refer to its default prim.

    Raises:
        ConfigError: A body has no prim; or several worlds are to be shown, and a body is not below the default prim.
    """
    own: Any = Usd.Stage.Open(str(stage_file))
    turn = _to_stage(own, asset)
    layer: Any = Sdf.Layer.CreateAnonymous(path.suffix)
    _copy_metadata(own, layer)
    reference = os.path.relpath(stage_file, path.parent)
    if len(worlds) == 1:
        roots, offsets = [""], np.zeros((1, 3))
        layer.subLayerPaths = [reference]
    else:
        roots = _add_worlds(own, layer, reference, rotated(turn, offsets))
    rows, labels = [], []
    for row, world in enumerate(worlds):
        for body in np.flatnonzero(on_host(model.body_world) == world):
            rows.append((row, body))
            labels.append(_prim_of(model.body_label[body], asset, own))
    prims = [_below(roots[row], label, own) for (row, _), label in zip(rows, labels, strict=True)]
    scales, notes = _scales(own, labels), []
    with Sdf.ChangeBlock():
        for prim, label, scale in zip(prims, labels, scales, strict=True):
            opened = _open_instances(own, layer, prim, label)
            notes += [f"'{each}' is not an instance in '{path.name}', so that its bodies can move" for each in opened]
            _prepare(layer, prim, scale, is_simulated=is_simulated)
    chosen = np.array(rows, dtype=int).reshape(-1, 2)
    motion = UsdMotion(
        layer=layer,
        path=path,
        prims=prims,
        bodies=chosen[:, 1],
        suffix=_SUFFIX,
        rotation=turn,
        origin=-rotated(turn, np.array(asset.position)),
        offsets=offsets[chosen[:, 0]],
    )
    return motion, list(dict.fromkeys(notes))


def _to_stage(own: Any, asset: AssetConfig) -> np.ndarray:
    """Return the rotation from the frame of the simulation, with z up, to the stage's: quaternion (x, y, z, w)."""
    up = newton.Axis.from_any(str(UsdGeom.GetStageUpAxis(own)))
    upright = np.array(up.quat_between_axes(newton.Axis.Z))
    return product(np.array(asset.rotation), upright) * (-1.0, -1.0, -1.0, 1.0)  # the inverse


def _copy_metadata(own: Any, layer: Any) -> None:
    """Give the layer the up axis, the unit and the default prim of a stage, which a sublayer does not pass on."""
    root: Any = Sdf.Layer.FindOrOpen(own.GetRootLayer().identifier).pseudoRoot
    for key in ("upAxis", "metersPerUnit", "kilogramsPerUnit", "defaultPrim"):
        if root.HasInfo(key):
            layer.pseudoRoot.SetInfo(key, root.GetInfo(key))


def _add_worlds(own: Any, layer: Any, reference: str, positions: np.ndarray) -> list[str]:
    """Add a reference to the default prim of a stage for each world, and return the path of each world."""
    default = own.GetDefaultPrim()
    if not default:
        raise ConfigError(
            f"worlds: {len(positions)} worlds, but the stage {reference!r} has no default prim to refer to; choose one"
            " world, or name a defaultPrim in the stage"
        )
    layer.defaultPrim, paths = "worlds", []
    for index, position in enumerate(positions.tolist()):
        world = Sdf.CreatePrimInLayer(layer, f"/worlds/world_{index}")
        for prim in (layer.GetPrimAtPath("/worlds"), world):
            prim.specifier, prim.typeName = Sdf.SpecifierDef, "Xform"
        _attribute(world, "xformOp:translate", "double3", Gf.Vec3d(position))
        _attribute(world, "xformOpOrder", "token[]", ["xformOp:translate"], is_uniform=True)
        copy = Sdf.CreatePrimInLayer(layer, f"{world.path}/{default.GetName()}")
        copy.specifier = Sdf.SpecifierDef
        copy.referenceList.Prepend(Sdf.Reference(reference))
        paths.append(str(world.path))
    return paths


def _prim_of(label: str, asset: AssetConfig, own: Any) -> str:
    """Return the path of a body's prim on the stage."""
    path = label.removeprefix(f"{asset.label}/") if asset.label else label
    if not (path.startswith("/") and own.GetPrimAtPath(path)):
        raise ConfigError(
            f"the body '{label}' is not a prim of {own.GetRootLayer().identifier!r}; use the viewer `video`"
        )
    return path


def _below(root: str, path: str, own: Any) -> str:
    """Return the path of a prim in a world; without a world it is that on the stage."""
    if not root:
        return path
    default = own.GetDefaultPrim()
    start = f"{default.GetPath()}"
    if path != start and not path.startswith(f"{start}/"):
        raise ConfigError(
            f"worlds: several, but the body '{path}' is not below the default prim '{start}' of its stage; choose one"
            " world"
        )
    return f"{root}/{default.GetName()}{path.removeprefix(start)}"


def _scales(own: Any, paths: Sequence[str]) -> list[tuple[float, ...]]:
    """Return the scale of each prim in the world, which its own operations replace."""
    cache: Any = UsdGeom.XformCache()
    frames = {path: np.array(cache.GetLocalToWorldTransform(own.GetPrimAtPath(path))) for path in set(paths)}
    return [tuple(float(np.linalg.norm(frames[path][axis, :3])) for axis in range(3)) for path in paths]


def _open_instances(own: Any, layer: Any, prim: str, path: str) -> list[str]:
    """Make the instances above a prim editable, and return their paths."""
    found, above, copy = [], own.GetPrimAtPath(path), Sdf.Path(prim)
    while above and str(above.GetPath()) != "/":
        if above.IsInstance():
            Sdf.CreatePrimInLayer(layer, copy).instanceable = False
            found.append(str(above.GetPath()))
        above, copy = above.GetParent(), copy.GetParentPath()
    return found


def _prepare(layer: Any, path: str, scale: tuple[float, ...], *, is_simulated: bool) -> None:
    """Give a prim operations that place it in the world, whatever is above it."""
    prim: Any = Sdf.CreatePrimInLayer(layer, path)
    names = [f"xformOp:{name}{_SUFFIX}" for name in ("translate", "orient", "scale")]
    for name, kind in zip(names, ("double3", "quatf", "double3"), strict=True):
        _attribute(prim, name, kind, Gf.Vec3d(scale) if name == names[2] else None)
    _attribute(prim, "xformOpOrder", "token[]", ["!resetXformStack!", *names], is_uniform=True)
    if not is_simulated:
        _attribute(prim, "physics:rigidBodyEnabled", "bool", False)


def _attribute(prim: Any, name: str, kind: str, value: Any = None, *, is_uniform: bool = False) -> None:
    variability = Sdf.VariabilityUniform if is_uniform else Sdf.VariabilityVarying
    spec = Sdf.AttributeSpec(prim, name, Sdf.ValueTypeNames.Find(kind), variability)
    if value is not None:
        spec.default = value
