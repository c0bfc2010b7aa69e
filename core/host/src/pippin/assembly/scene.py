"""Construction of the builder of all worlds from `[scene]`: assets form prototypes, and prototypes are replicated."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import Any

import attrs
import mujoco
import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.assets.asset import FORMATS, Asset, find_assets
from pippin.assets.importing import import_asset
from pippin.assets.report import Imported, refuse_lost_parts
from pippin.catalog.entries import Catalog
from pippin.config.model import SceneConfig
from pippin.devices import kind_of
from pippin.errors import ConfigError
from pippin.indices import chosen_worlds, listed_worlds
from pippin.quaternions import matrix
from pippin.terrains.grid import TerrainGrid


class Builder(newton.ModelBuilder):
    """Newton's builder, in which merged bodies have the inertia of their parts about their common centre of mass.

    Newton shifts the inertia of each merged body from its origin, and that of the body that stays not at all.
    """

    def collapse_fixed_joints(
        self, verbose: bool = False, joints_to_keep: Sequence[str | int] | None = None
    ) -> dict[str, Any]:
        """Merge bodies as Newton does, and set the inertias of those that have got others."""
        parts = [
            (mass, np.array(com, float), np.array(inertia, float).reshape(3, 3))
            for mass, com, inertia in zip(self.body_mass, self.body_com, self.body_inertia, strict=True)
        ]
        collapsed = super().collapse_fixed_joints(verbose=verbose, joints_to_keep=joints_to_keep)
        poses = collapsed["body_merged_transform"]
        for head, new in collapsed["body_remap"].items():
            merged = [part for part, other in collapsed["body_merged_parent"].items() if other == head >= 0]
            if not merged:
                continue
            com, inertia = np.array(self.body_com[new], float), np.zeros((3, 3))
            for part in (head, *merged):
                pose = wp.transform() if part == head else poses[part]
                mass, centre, own = parts[part]
                turn = matrix(np.array(pose.q, float))
                arm = turn @ centre + np.array(pose.p, float) - com
                inertia += turn @ own @ turn.T + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
            self.body_inertia[new] = wp.mat33(*inertia.ravel())
            is_regular = self.body_mass[new] > 0.0 and np.linalg.det(inertia) > 0.0
            self.body_inv_inertia[new] = wp.mat33(*np.linalg.inv(inertia).ravel()) if is_regular else wp.mat33(0.0)
        return collapsed


def take_hulls(builder: newton.ModelBuilder, shapes: Iterable[int]) -> None:
    """Let meshes among some shapes collide as their convex hulls, which is what they mean in MuJoCo.

    What is drawn stays: the mesh is a shape of its own then. Newton's collision of triangles takes 10⁴ times as long on
    the CPU, and its deepest overlaps point anywhere. Meshes with a signed distance field keep it.
    """
    solid, hydroelastic = int(newton.ShapeFlags.COLLIDE_SHAPES), int(newton.ShapeFlags.HYDROELASTIC)
    fields = (builder.shape_sdf_max_resolution, builder.shape_sdf_target_voxel_size, builder.shape_sdf_padding)
    chosen = [
        shape
        for shape in shapes
        if builder.shape_type[shape] == newton.GeoType.MESH
        and builder.shape_flags[shape] & (solid | hydroelastic) == solid
        and all(field[shape] is None for field in fields)
    ]
    builder.approximate_meshes("convex_hull", chosen, raise_on_failure=True, keep_visual_shapes=True)


EARTH = (0.0, 0.0, -9.81)
"""Gravity without any statement [m/s²]."""

_NO_GRAVITY = int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)


def common_gravity(imports: Sequence[Imported]) -> tuple[float, float, float]:
    """Return the gravity that the assets state [m/s²]; the usual one states nothing."""
    stated = {each.asset.where: gravity for each in imports if (gravity := _gravity_of(each)) != EARTH}
    if len(set(stated.values())) > 1:
        listed = ", ".join(f"{list(gravity)} in {where}" for where, gravity in stated.items())
        raise ConfigError(f"scene.gravity: the assets state different gravities, {listed}; set scene.gravity")
    return next(iter(stated.values()), EARTH)


def _gravity_of(imported: Imported) -> tuple[float, float, float]:
    if imported.normal is not None:
        option = imported.normal.model.opt
        gravity = np.zeros(3) if option.disableflags & _NO_GRAVITY else np.array(option.gravity)
        up = imported.asset.config.up_axis
        if up is not None:
            turn: Any = newton.math.quat_between_axes(newton.Axis[up.upper()], newton.Axis.Z)
            vector: Any = wp.vec3(*gravity)
            gravity = np.array(wp.quat_rotate(turn, vector))
    elif imported.asset.format is FORMATS["usd"] or imported.asset.format.importer is not None:
        gravity = np.array(imported.part.gravity)
    else:
        return EARTH
    x, y, z = (round(float(value), 6) + 0.0 for value in gravity)
    return x, y, z


def new_builder(scene: SceneConfig) -> newton.ModelBuilder:
    """Return an empty builder with z up, the scene's gravity and its shape defaults."""
    builder = Builder(up_axis=newton.Axis.Z, gravity=scene.gravity or EARTH)
    for name, value in attrs.asdict(scene.shapes, filter=lambda _, value: value is not None).items():
        setattr(builder.default_shape_cfg, name, value)
    return builder


def add_assets(
    builder: newton.ModelBuilder,
    scene: SceneConfig,
    indices: Collection[int] | None = None,
    catalog: Catalog | None = None,
    *,
    has_own_contacts: bool = True,
) -> list[Imported]:
    """Add assets of the scene, or those of some indices, to one world's prototype; return each in a builder of its own.

    Each asset is read into a copy of the empty builder, with its defaults and custom attributes: a change of the whole
    builder by an importer, such as merging bodies, affects one asset only. The catalog of importers is by default the
    installed one. If the solver has no contacts of its own, Newton's collision gets the convex hulls of meshes.

    Raises:
        ConfigError: A file cannot be found or read, or is empty, or would be another mechanism; or the assets state
            different gravities.
    """
    every = enumerate(find_assets(scene.assets, catalog))
    assets = [asset for index, asset in every if indices is None or index in indices]
    _refuse_ignored_shapes(scene, assets)
    blank = copy.deepcopy(builder)
    imports = []
    for asset in assets:
        part = copy.deepcopy(blank)
        imported = Imported(asset, part, import_asset(part, asset))
        refuse_lost_parts(imported)
        first = builder.shape_count
        builder.add_builder(part, label_prefix=asset.config.label)
        if not has_own_contacts and asset.config.convex_hulls and "convex_hulls" in asset.format.own:
            take_hulls(builder, range(first, builder.shape_count))
        imports.append(imported)
    builder.gravity = blank.gravity if scene.gravity is not None else common_gravity(imports)
    return imports


def refuse_still(builder: newton.ModelBuilder, scene: SceneConfig, worlds: str = "") -> None:
    """Refuse a prototype in which nothing can move, after all components have added what they bring."""
    if builder.body_count or builder.particle_count:
        return
    files = ", ".join(repr(asset.path) for asset in scene.assets)
    got = f"0 bodies from {files}" if files else "no assets"
    got += f" and {len(scene.objects)} objects that stand still" if scene.objects else ""
    raise ConfigError(
        f"scene.assets: nothing in the scene can move{f' in {worlds}' if worlds else ''}, got {got} and no bodies of a"
        " plugin; add an asset or an object that has bodies, or a plugin whose fill_prototype adds some"
    )


def _refuse_ignored_shapes(scene: SceneConfig, assets: Collection[Asset]) -> None:
    settings = attrs.asdict(scene.shapes, filter=lambda _, value: value is not None)
    faults = [
        f"scene.shapes.{key}: {value!r}, but the {asset.format.reader} decides this for each shape of"
        f" {asset.where}; leave it out, or change the asset itself"
        for key, value in settings.items()
        for asset in assets
        if key in asset.format.decides
    ]
    if faults:
        raise ConfigError(*faults)


@attrs.frozen
class SceneContents:
    """Contents of one world, by indices of the scene's lists."""

    assets: tuple[int, ...]
    objects: tuple[int, ...]


def contents_of_worlds(scene: SceneConfig) -> tuple[list[SceneContents], np.ndarray]:
    """Return the distinct contents, in the order of their first worlds, and the number of each world's, shape [worlds].

    Raises:
        ConfigError: A world has nothing, although other worlds have something.
    """
    assets = _in_worlds([asset.worlds for asset in scene.assets], scene.worlds, "assets")
    objects = _in_worlds([chosen.config.worlds for chosen in scene.objects], scene.worlds, "objects")
    is_in = np.concatenate([assets, objects], axis=1)
    empty = np.flatnonzero(~is_in.any(axis=1))
    if len(empty) and is_in.size:
        raise ConfigError(
            f"scene.assets: no asset and no object is in {listed_worlds(empty)}; let the 'worlds' of some cover them,"
            " or lower scene.worlds"
        )
    keys = list(map(bytes, np.packbits(is_in, axis=1)))
    known = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    numbers = np.array(list(map(known.__getitem__, keys)))
    firsts = np.unique(numbers, return_index=True)[1]
    chosen = [[tuple(np.flatnonzero(of[first]).tolist()) for of in (assets, objects)] for first in firsts]
    return [SceneContents(*each) for each in chosen], numbers


def _in_worlds(chosen: Sequence[str | Sequence[int] | None], count: int, key: str) -> np.ndarray:
    """Return whether each world has each of the assets or objects, shape [worlds, assets or objects]."""
    found = np.zeros((count, len(chosen)), dtype=bool)
    for index, worlds in enumerate(chosen):
        where = f"scene.{key}[{index}].worlds"
        rows = ... if worlds is None else chosen_worlds(worlds, count, where, f"leave the {key[:-1]} out")
        found[rows, index] = True
    return found


def add_worlds(
    builder: newton.ModelBuilder,
    runs: Iterable[tuple[newton.ModelBuilder, int]],
    scene: SceneConfig,
    terrain: TerrainGrid | None = None,
) -> None:
    """Add all worlds at the origin, as runs of copies of a prototype, and the ground if the scene has one.

    Each run is a prototype, whose gravity its copies keep, and the number of neighbouring worlds that copy it.
    """
    for prototype, count in runs:
        if prototype.up_axis != newton.Axis.Z:
            raise ConfigError(
                f"prototype: expected z up, got up axis {prototype.up_axis.name.lower()!r}; "
                "build it with newton.ModelBuilder(up_axis=newton.Axis.Z)"
            )
        builder.replicate(prototype, count)
    if scene.ground:
        builder.add_ground_plane()
    if terrain is not None:
        terrain.add_shapes(builder, scene)


def finalize(
    builder: newton.ModelBuilder, device: wp.Device, *, requires_grad: bool = False, has_valid_inertias: bool = False
) -> newton.Model:
    """Return the model of all worlds on a device; with `requires_grad`, its arrays have gradients.

    With `has_valid_inertias`, another reader has checked all inertias: Newton's own check takes moments below
    1e-10 kg·m², as insects have, for errors.

    Raises:
        ConfigError: Shapes are hydroelastic and the device has no signed distance fields, or Newton refuses the model.
    """
    hydroelastic = int(newton.ShapeFlags.HYDROELASTIC | newton.ShapeFlags.COLLIDE_SHAPES)
    is_soft = (np.array(builder.shape_flags, dtype=int) & hydroelastic) == hydroelastic
    if is_soft.any() and kind_of(device) == "cpu":
        raise ConfigError(
            f"scene.shapes.is_hydroelastic: shape {builder.shape_label[is_soft.argmax()]!r} is hydroelastic, which"
            f" needs CUDA, and the device is {device.alias!r}; choose another simulation.device, or leave"
            " is_hydroelastic out"
        )
    try:
        with warnings.catch_warnings():  # heightfields stand still, and need no contacts with each other
            warnings.filterwarnings("ignore", "Heightfield-vs-heightfield", category=newton.NewtonWarning)
            model = builder.finalize(
                device=device, requires_grad=requires_grad, skip_validation_inertia=has_valid_inertias
            )
    except (NotImplementedError, ValueError) as error:
        raise ConfigError(f"scene: newton refused it: {error}") from error
    for namespace in vars(model).values():
        if isinstance(namespace, newton.Model.AttributeNamespace):
            aliases = vars(namespace)["_deprecated_aliases"]  # each of them asks the model, and would keep it alive
            aliases.update({key: (partial(lambda it: it, get()), text) for key, (get, text) in aliases.items()})
    _bound_fields(model)
    return model


def _bound_fields(model: newton.Model) -> None:
    """Give each heightfield bounds of its own: Newton gives all of one scale those of the first."""
    fields = np.flatnonzero(on_host(model.shape_type) == int(newton.GeoType.HFIELD))
    if len(fields) < 2:
        return
    sources: Any = [model.shape_source[index] for index in fields]
    scales, far = on_host(model.shape_scale)[fields], [(each.hx, each.hy, each.max_z) for each in sources]
    near = [(-each.hx, -each.hy, each.min_z) for each in sources]
    for bounds, choose in (
        (model.shape_collision_aabb_lower, np.minimum),
        (model.shape_collision_aabb_upper, np.maximum),
    ):
        rows = on_host(bounds).copy()
        rows[fields] = choose(near * scales, far * scales)
        present(bounds).assign(rows)


def world_offsets(scene: SceneConfig) -> np.ndarray:
    """Return the position at which each world is drawn [m], shape [world_count, 3]: a grid with the scene's spacing.

    A part of a larger run has its places in the grid of all worlds, as `newton.utils.compute_world_offsets` makes it,
    without an array of all of them.
    """
    spacing = np.array(scene.spacing, dtype=np.float32)
    axes = np.flatnonzero(spacing)
    numbers = np.arange(scene.first_world, scene.first_world + scene.worlds)
    places = np.zeros((scene.worlds, 3), dtype=np.float32)
    side = math.ceil(scene.run_worlds ** (1.0 / max(1, len(axes))))
    for power, axis in enumerate(axes):
        is_last = power == len(axes) - 1
        whole = (scene.run_worlds - 1) // side**power
        index = numbers // side**power if is_last else numbers // side**power % side
        places[:, axis] = index * spacing[axis]
        if axis != newton.Axis.Z:
            places[:, axis] -= np.float32((whole if is_last else min(whole, side - 1)) * spacing[axis]) / np.float32(2)
    return places
