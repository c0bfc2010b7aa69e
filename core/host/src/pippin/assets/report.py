"""Import report: the differences between the robot that MuJoCo reads from a file and the one that is simulated."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import attrs
import mujoco
import newton
import numpy as np
import warp as wp
from pippin.config.model import AssetConfig, SceneConfig
from pippin.config.shapes import ShapeConfig
from pippin.errors import ConfigError
from pippin.solving.conversion import complete_conversion, thicken_laminae
from pippin.spelling import did_you_mean

from .asset import FORMATS, Asset
from .fidelity import Difference, compare, compare_sketch, worded
from .mjcf.normal_form import NormalMJCF
from .usd.meanings import lost

_LINES_MAX = 12
"""Largest number of lines of a report in the notes of a simulation."""

_SURFACE = ("friction", "margin", "gap", "solref", "solimp", "condim")
"""Fields of geoms that `[scene.shapes]` decides."""


@attrs.frozen(eq=False)
class Imported:
    """One asset in a builder of its own, with MuJoCo's model of the file."""

    asset: Asset
    part: newton.ModelBuilder
    normal: NormalMJCF | None
    """The file as MuJoCo understands it; None if MuJoCo did not read it."""


@attrs.frozen
class ImportReport:
    """Differences between MuJoCo's model of a file and ours."""

    where: str
    """Key path of the asset."""

    file: str
    """Name of the file."""

    differences: tuple[Difference, ...]
    """All differences, those by design included."""

    lost: tuple[str, ...] = ()
    """What a USD stage states and nothing does, one line each."""

    def notes(self) -> list[str]:
        """Return one line for each field that differs; of those by design, only pairs that no longer collide."""
        found = worded((each for each in self.differences if _is_noted(each)), _LINES_MAX)
        return [f"{self.file}: {line}" for line in (*found, *self.lost)]

    def designed(self) -> list[str]:
        """Return one line for each other field that differs by design, with the reason."""
        return [f"{self.file}: {line}" for line in worded(each for each in self.differences if not _is_noted(each))]


def report_imports(
    imports: Iterable[Imported],
    scene: SceneConfig,
    *,
    is_for_mujoco: bool,
    step: float = math.inf,
    replaced: Collection[str] = (),
) -> list[ImportReport]:
    """Return a report on each MJCF file that MuJoCo has read and of which the configuration changes no length or joint,
    and on each USD stage.

    If the solver is one of MuJoCo's, all is compared that MuJoCo simulates, and each asset is converted as the solver
    does it. The kernels of that conversion take 10 s to compile; for other solvers, a sketch without kernels is
    compared, in some 10 ms. By the length of a substep [s], MuJoCo limits the stiffness of constraints. Groups speak of
    the delays of the actuators that they have `replaced`, which are labels.

    Raises:
        ConfigError: A file would be another mechanism, and its asset does not accept that.
    """
    reports = []
    for imported in imports:
        normal, asset = imported.normal, imported.asset
        if asset.format is FORMATS["usd"]:
            reports.append(ImportReport(asset.where, asset.file.name, (), tuple(lost(asset, imported.part))))
        if normal is None or _is_another_by_request(asset.config) or not imported.part.joint_count:
            continue
        theirs = _placed(normal.model, imported.part, asset.config)
        part = imported.part
        differences = compare(theirs, _converted(part), step) if is_for_mujoco else compare_sketch(theirs, part)
        prefix = "" if asset.config.label is None else f"{asset.config.label}/"
        spoken = {f"actuator {label.removeprefix(prefix)!r}" for label in replaced if label.startswith(prefix)}
        found = tuple(
            each
            for each in differences
            if not (_is_asked(each, asset.config, scene, part) or (each.field == "delay" and each.element in spoken))
        )
        report = ImportReport(asset.where, asset.file.name, found)
        _refuse(asset, report.differences)
        reports.append(report)
    return reports


def refuse_lost_parts(imported: Imported) -> None:
    """Refuse an MJCF file of which Newton's importer left out bodies, axes or whole kinds of elements.

    Raises:
        ConfigError: The file would be another mechanism, and its asset does not accept that.
    """
    if imported.normal is not None and not _is_another_by_request(imported.asset.config):
        _refuse(imported.asset, list(_lost_parts(imported.normal.model, imported.part)))


def _lost_parts(theirs: Any, part: newton.ModelBuilder) -> Iterator[Difference]:
    names = {label.rpartition("/")[2] for label in part.body_label}
    for index in range(1, theirs.nbody):
        name = theirs.body(index).name
        if name.replace("-", "_").rpartition("/")[2] not in names:
            yield Difference(f"body {name!r}", "exists", True, False, is_structural=True)
    in_tree = [sum(dims) for dims, of in zip(part.joint_dof_dim, part.joint_articulation, strict=True) if of >= 0]
    counts = {"DOFs": (theirs.nv, sum(in_tree)), "flexes": (theirs.nflex, 0), "plugins": (theirs.nplugin, 0)}
    for name, (of_theirs, of_ours) in counts.items():
        if of_theirs != of_ours:
            yield Difference("model", name, float(of_theirs), float(of_ours), is_structural=True)


def _refuse(asset: Asset, differences: Iterable[Difference]) -> None:
    lost = [each for each in differences if each.is_structural and not each.is_by_design]
    refused = [each for each in lost if _kind(each) not in asset.config.accept_lost]
    if refused:
        kinds = list(dict.fromkeys(map(_kind, refused)))
        listed = "; ".join(worded(refused, _LINES_MAX))
        given, known = asset.config.accept_lost, {*map(_kind, lost)}
        accepted = ", ".join(f'"{kind}"' for kind in [*(word for word in given if word in known), *kinds])
        wrong = [word for word in given if word not in known]
        hints = [f"; it has {word!r}{did_you_mean(word, known)}" for word in wrong]
        raise ConfigError(
            f"{asset.where}.path: {str(asset.file)!r} would be another mechanism than in MuJoCo: {listed};"
            f" change the file, or accept it: accept_lost = [{accepted}]{''.join(hints)}"
        )


def _is_noted(difference: Difference) -> bool:
    return not difference.is_by_design or difference.kind == "pair"


def _kind(difference: Difference) -> str:
    return difference.field if difference.kind == "model" else difference.kind


def _is_another_by_request(config: AssetConfig) -> bool:
    return config.scale is not None or config.floating is not None or bool(config.collapse_fixed_joints)


def _is_asked(difference: Difference, config: AssetConfig, scene: SceneConfig, part: newton.ModelBuilder) -> bool:
    kind, field = difference.kind, difference.field
    return (
        (kind == "pair" and config.self_collisions is False)
        or (kind == "site" and bool(config.ignore))
        or (kind == "option" and (field == "gravity" or not config.mujoco_options))
        or (field == "armature" and config.armature is not None)
        or (kind == "pair" and field == "friction" and scene.shapes != ShapeConfig())
        or (kind == "geom" and field in _SURFACE and scene.shapes != ShapeConfig())
        or (field == "gap" and part.rigid_gap > 0.0)  # Newton detects the contacts
    )


def _converted(part: newton.ModelBuilder) -> Any:
    with warnings.catch_warnings(action="ignore"):  # the solver's own conversion issues them
        thicken_laminae(part)
        model = part.finalize(device="cpu", skip_validation_inertia=True)
        converted = newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=True, enable_sleeping=False)
        complete_conversion(converted)
        own: Any = converted
        if own.mj_model.ngeom:
            shapes, margins = own.mjc_geom_to_newton_shape.numpy()[0], own.model.shape_margin.numpy()
            # Newton leaves them out beside boxes and meshes; a solver that does so, too, warns of it.
            own.mj_model.geom_margin[:] = np.where(shapes >= 0, margins[shapes], 0.0)
        return own.mj_model


def _placed(model: Any, part: newton.ModelBuilder, config: AssetConfig) -> Any:
    default = AssetConfig(path=config.path)
    if (config.position, config.rotation, config.up_axis) == (default.position, default.rotation, default.up_axis):
        return model
    placed = copy.copy(model)
    place = wp.transform(config.position, config.rotation)
    if config.up_axis is not None:
        place = place * wp.transform(
            wp.vec3(), newton.math.quat_between_axes(newton.Axis[config.up_axis.upper()], part.up_axis)
        )
    for kind, parents in (("body", model.body_parentid), ("geom", model.geom_bodyid), ("site", model.site_bodyid)):
        for index in np.flatnonzero(parents == 0):
            if kind != "body" or index:
                _move(getattr(placed, f"{kind}_pos")[index], getattr(placed, f"{kind}_quat")[index], place)
    free = int(mujoco.mjtJoint.mjJNT_FREE)
    for start in model.jnt_qposadr[model.jnt_type == free]:
        for pose in (placed.qpos0, placed.qpos_spring):
            _move(pose[start : start + 3], pose[start + 3 : start + 7], place)
    return placed


def _move(position: np.ndarray, quaternion: np.ndarray, place: Any) -> None:
    moved = np.array(place * wp.transform(position, np.roll(quaternion, -1)))
    position[:], quaternion[:] = moved[:3], np.roll(moved[3:], 1)
