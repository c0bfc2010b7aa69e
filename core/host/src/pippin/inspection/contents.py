"""The contents of the assets of a scene, and of what it lists itself, read from the model and from the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import newton
import warp as wp
from pippin.assembly.poses import whole_scene
from pippin.assembly.scene import finalize, new_builder
from pippin.assets.actuators.prims import read_actuators
from pippin.assets.asset import FORMATS, Asset, find_assets
from pippin.assets.importing import import_asset
from pippin.assets.report import Imported, report_imports
from pippin.config import SceneConfig, SimulationConfig
from pippin.errors import ConfigError
from pippin.labels import name_of

from . import model_rows
from .rows import ActuatorRow, AssetContents


def inspect_assets(scene: SceneConfig) -> list[AssetContents]:
    """Return the contents of each asset of a scene. No kernel is compiled, but for what Newton makes matter with."""
    return [_contents(asset, scene) for asset in find_assets(scene.assets)]


def inspect_scene(config: SimulationConfig, file: Path) -> list[AssetContents]:
    """Return the contents of each asset of a configuration; and those that its scene lists itself, if it has any.

    Raises:
        ConfigError: There is nothing, or it cannot be read or added.
    """
    scene, found = config.scene, inspect_assets(config.scene)
    own = [scene.objects, scene.joints, scene.sites, scene.tendons, scene.attachments, config.motions]
    if any(own):
        found.append(_listed(config, file))
    if not found:
        raise ConfigError("scene.assets: there are none to inspect; name a robot file, or a scene with objects")
    return found


def _listed(config: SimulationConfig, file: Path) -> AssetContents:
    whole = whole_scene(config)
    builder = whole.builder
    firsts = whole.first_particle, whole.first_body, whole.first_joint, whole.first_shape
    particles = {each.label: each.particles for each in whole.objects}
    return AssetContents(
        file=str(file),
        format="scene",
        refusal="",
        actuators=(),
        sensors=(),
        cameras=(),
        keyframes=(),
        tendons=tuple(model_rows.tendon_rows(builder)),
        attachments=tuple(model_rows.attachment_rows(builder, particles)),
        motions=tuple(model_rows.motion_rows(config.motions)),
        **_parts(builder, *firsts),
    )


def _parts(
    builder: newton.ModelBuilder, particle: int = 0, body: int = 0, joint: int = 0, shape: int = 0
) -> dict[str, Any]:
    """Return the lists of bodies, joints, shapes, sites and matter in a builder, from some elements on."""
    matter, segments = (), frozenset()
    if builder.particle_count or builder.curve_label:
        device = wp.get_device("cpu")
        with wp.ScopedDevice(device):
            model = finalize(builder, device, has_valid_inertias=True)  # no step is taken
        segments = model_rows.segments_of(model)
        matter = tuple(model_rows.matter_rows(model, particle, body))
    bodies = [each for each in range(body, builder.body_count) if each not in segments]
    joints = [each for each in range(joint, builder.joint_count) if builder.joint_child[each] not in segments]
    shapes = [each for each in range(shape, builder.shape_count) if builder.shape_body[each] not in segments]
    ends = [*builder.joint_qd_start[1:], builder.joint_dof_count]
    loops = [each for each in joints if builder.joint_articulation[each] < 0]
    dofs = sum(ends[each] - builder.joint_qd_start[each] for each in joints if each not in loops)
    [mass] = model_rows.numbers([sum(builder.body_mass[each] for each in bodies) + sum(row.mass for row in matter)])
    return {
        "total_mass": mass,
        "dof_count": dofs,
        "loops": tuple(builder.joint_label[each] for each in loops),
        "bodies": tuple(model_rows.body_rows(builder, bodies)),
        "joints": tuple(model_rows.joint_rows(builder, joints)),
        "shapes": tuple(model_rows.shape_rows(builder, shapes)),
        "sites": tuple(model_rows.site_rows(builder, shapes)),
        "matter": matter,
    }


def _contents(asset: Asset, scene: SceneConfig) -> AssetContents:
    builder = new_builder(scene)
    # The importers read MuJoCo's options and actuators only into attributes that are there.
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    normal = import_asset(builder, asset)
    model = None if normal is None else normal.model
    try:
        report_imports([Imported(asset, builder, normal)], scene, is_for_mujoco=False)
        refusal = ""
    except ConfigError as error:
        refusal = str(error)
    of_file: dict[str, Any] = {"actuators": tuple(_prims(asset)), "sensors": (), "cameras": (), "keyframes": ()}
    if model is not None:
        of_file = {name: tuple(getattr(model_rows, f"{name.removesuffix('s')}_rows")(model)) for name in of_file}
    return AssetContents(
        file=str(asset.file), format=asset.format.name.lower(), refusal=refusal, **_parts(builder), **of_file
    )


def _prims(asset: Asset) -> Iterator[ActuatorRow]:
    """Yield the actuators of a USD stage; an error has one fault for each wrong prim."""
    if asset.format is not FORMATS["usd"]:
        return
    faults: list[str] = []
    for each in read_actuators(asset, faults):
        joints = ", ".join(map(name_of, each.joints))
        kind = str(each.table.get("type", ""))
        yield ActuatorRow(
            name=name_of(each.names[0]), type=kind, target=joints, gear=None, control_range=None, effort_range=None
        )
    if faults:
        raise ConfigError(*faults)
