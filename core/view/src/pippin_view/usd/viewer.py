"""Viewer `usd`: the motion of a run in USD, over the user's own stage or with the shapes of the model."""

# pyright: reportAttributeAccessIssue=false
# OpenUSD has no types.

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import newton
import numpy as np
from pippin import AssetConfig, ConfigError, Host, find_file
from pippin.arrays import on_host
from pippin.quaternions import product, rotated
from pippin.viewing import FileViewer, VariantWatch
from pxr import Gf, Sdf, Usd, UsdGeom

from .geometry import geometry
from .motion import UsdMotion

_SUFFIX = ":pippin"
"""End of the names of operations, so that none meets one of the stage with another type."""


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
    path = label.removeprefix(f"{asset.label}/") if asset.label else label
    if not (path.startswith("/") and own.GetPrimAtPath(path)):
        raise ConfigError(
            f"the body '{label}' is not a prim of {own.GetRootLayer().identifier!r}; use the viewer `video`"
        )
    return path


def _below(root: str, path: str, own: Any) -> str:
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
    cache: Any = UsdGeom.XformCache()
    frames = {path: np.array(cache.GetLocalToWorldTransform(own.GetPrimAtPath(path))) for path in set(paths)}
    return [tuple(float(np.linalg.norm(frames[path][axis, :3])) for axis in range(3)) for path in paths]


def _open_instances(own: Any, layer: Any, prim: str, path: str) -> list[str]:
    found, above, copy = [], own.GetPrimAtPath(path), Sdf.Path(prim)
    while above and str(above.GetPath()) != "/":
        if above.IsInstance():
            Sdf.CreatePrimInLayer(layer, copy).instanceable = False
            found.append(str(above.GetPath()))
        above, copy = above.GetParent(), copy.GetParentPath()
    return found


def _prepare(layer: Any, path: str, scale: tuple[float, ...], *, is_simulated: bool) -> None:
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


_STAGES = (".usd", ".usda", ".usdc", ".usdz")
"""Suffixes of USD stages."""


class ViewerUSD(FileViewer):
    """Adds the poses of bodies to a USD layer after every `1 / rate` seconds of simulated time."""

    @property
    def notes(self) -> list[str]:
        """Facts that a reader of the results should know."""
        return [*self._notes, *self._motion.notes] if hasattr(self, "_motion") else []

    def prepare(self, simulation: Host) -> None:
        """Prepare the layer.

        Raises:
            ConfigError: The stage has no prim for a body.
        """
        self._motion, self._notes = self._scene_motion(simulation)
        self._variants = VariantWatch(simulation.model)
        self._motion.layer.timeCodesPerSecond = self._motion.layer.framesPerSecond = self.config.rate
        self._motion.layer.startTimeCode = 0.0

    def write(self, simulation: Host, index: int) -> None:
        """Add the poses of the bodies and the positions of the particles."""
        body_q, particle_q = simulation.state.body_q, simulation.state.particle_q
        if self._variants.has_changed():
            told = "bodies changed their variants, but a stage has one set of shapes: it shows the first ones"
            self._notes = list(dict.fromkeys([*self._notes, told]))
        bodies = np.zeros((0, 7)) if body_q is None else body_q.numpy()
        self._motion.add(index, bodies, None if particle_q is None else particle_q.numpy())
        self._motion.save_if_due(index / self.config.rate)

    def finish(self) -> None:
        """Write the file."""
        self._motion.save()

    def _scene_motion(self, simulation: Host) -> tuple[UsdMotion, list[str]]:
        """Return the motion over the user's stage, if that is all of the scene, else over the model's own shapes."""
        path, worlds = self.path, self.worlds
        model, offsets = simulation.model, np.asarray(simulation.world_offsets)[worlds]
        scene = simulation.config.scene
        has_stage = any(map(_is_stage, scene.assets))
        if has_stage and len(scene.assets) == 1 and not scene.objects and not model.particle_count:
            stage = find_file(scene.assets[0].path, "scene.assets[0].path")
            return self._overlay(simulation, stage, scene.assets[0])
        motion, notes = geometry(path, model, worlds, offsets)
        if has_stage:
            notes.append(f"'{path.name}' has shapes of its own, as the scene has more than the bodies of one USD stage")
        return motion, notes

    def _overlay(self, simulation: Host, stage_file: Path, asset: AssetConfig) -> tuple[UsdMotion, list[str]]:
        """Return the motion over a stage, without samples so far, and notes.

        One world has the stage as a sublayer; several, displaced, refer to its default prim.
        """
        path, model, offsets = self.path, simulation.model, np.asarray(simulation.world_offsets)[self.worlds]
        own: Any = Usd.Stage.Open(str(stage_file))
        turn = _to_stage(own, asset)
        layer: Any = Sdf.Layer.CreateAnonymous(path.suffix)
        _copy_metadata(own, layer)
        reference = os.path.relpath(stage_file, path.parent)
        if len(self.worlds) == 1:
            roots, offsets = [""], np.zeros((1, 3))
            layer.subLayerPaths = [reference]
        else:
            roots = _add_worlds(own, layer, reference, rotated(turn, offsets))
        rows, labels = [], []
        for row, world in enumerate(self.worlds):
            for body in np.flatnonzero(on_host(model.body_world) == world):
                rows.append((row, body))
                labels.append(_prim_of(model.body_label[body], asset, own))
        prims = [_below(roots[row], label, own) for (row, _), label in zip(rows, labels, strict=True)]
        scales, notes = _scales(own, labels), []
        with Sdf.ChangeBlock():
            for prim, label, scale in zip(prims, labels, scales, strict=True):
                opened = _open_instances(own, layer, prim, label)
                notes += [
                    f"'{each}' is not an instance in '{path.name}', so that its bodies can move" for each in opened
                ]
                _prepare(layer, prim, scale, is_simulated=self.config.physics)
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


def _is_stage(asset: AssetConfig) -> bool:
    return asset.format == "usd" or (
        asset.format is None and asset.importer is None and asset.path.lower().endswith(_STAGES)
    )
