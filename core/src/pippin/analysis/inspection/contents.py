"""The contents of the assets of a scene, read from the model and from the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import newton
from pippin.assembly.scene import new_builder
from pippin.assets.actuators.prims import read_actuators
from pippin.assets.asset import Asset, find_assets
from pippin.assets.formats import FORMATS
from pippin.assets.importing import import_asset
from pippin.assets.report import Imported, report_imports
from pippin.config import SceneConfig
from pippin.errors import ConfigError
from pippin.labels import name_of

from . import model_rows, mujoco_rows
from .rows import ActuatorRow, AssetContents


def inspect_assets(scene: SceneConfig) -> list[AssetContents]:
    """Return the contents of each asset of a scene. No kernel is compiled."""
    if not scene.assets:
        raise ConfigError("scene.assets: there are none to inspect; name a robot file")
    return [_contents(asset, scene) for asset in find_assets(scene.assets)]


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
    ends = [*builder.joint_qd_start[1:], builder.joint_dof_count]
    loops = [joint for joint, articulation in enumerate(builder.joint_articulation) if articulation < 0]
    [mass] = model_rows.numbers([sum(builder.body_mass)])
    of_file: dict[str, Any] = {"actuators": tuple(_prims(asset)), "sensors": (), "cameras": (), "keyframes": ()}
    if model is not None:
        kinds = ("actuator", "sensor", "camera", "keyframe")
        of_file = {f"{kind}s": tuple(getattr(mujoco_rows, f"{kind}_rows")(model)) for kind in kinds}
    return AssetContents(
        file=str(asset.file),
        format=asset.format.name.lower(),
        total_mass=mass,
        dof_count=builder.joint_dof_count - sum(ends[joint] - builder.joint_qd_start[joint] for joint in loops),
        loops=tuple(builder.joint_label[joint] for joint in loops),
        refusal=refusal,
        bodies=tuple(model_rows.body_rows(builder)),
        joints=tuple(model_rows.joint_rows(builder)),
        shapes=tuple(model_rows.shape_rows(builder)),
        sites=tuple(model_rows.site_rows(builder)),
        **of_file,
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
