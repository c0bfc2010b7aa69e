"""Import of `[[scene.assets]]` into a builder: Pippin finds and checks the file, Newton's importer reads it."""

from __future__ import annotations

import contextlib
import copy
import logging
import re
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any

import newton
import numpy as np
import warp as wp
from newton import usd
from pippin.attribute_rows import typed
from pippin.axes import choose_axes, declare_axis_names, forget_needless_names
from pippin.errors import ConfigError
from pippin.labels import assign, match
from pippin.spelling import did_you_mean, listed

from .actuators.asset_actuators import zero_targets
from .asset import FORMATS, NOTE, Asset, failure, given_options, is_normalised
from .importer import Importer
from .mjcf.completion import complete, keep_dimensions
from .mjcf.keyframes import start_at
from .mjcf.normal_form import NormalMJCF, normalise
from .start_poses import start_poses, start_where_placed
from .urdf.adding import add_urdf, part_overlapping, release_links
from .urdf.reading import is_remote
from .usd.meanings import refuse_units, repair
from .usd.stage import articulate, ignored_paths, open_stage, refuse_broken_meshes, skipping_patterns

_KEPT = ("mujoco:dof_ref", "mujoco:condim")
_KEPT_FREQUENCIES = ("mujoco:actuator", "mujoco:tendon", "mujoco:tendon_joint", "mujoco:tendon_wrap")
"""Attributes, and frequencies of attributes, that a builder keeps of MJCF whatever the solver."""

_LOGGER = logging.getLogger(__name__)


def import_asset(builder: newton.ModelBuilder, asset: Asset) -> NormalMJCF | None:
    """Add an asset to a builder, at its position and with the start pose of the configuration.

    Warnings of the importer, logged ones too, are issued again with the name of the file. Returns the file as MuJoCo
    understands it; None if MuJoCo does not read it.
    """
    if asset.config.armature is not None:
        builder.default_joint_cfg.armature = asset.config.armature
    registered = frozenset(builder.custom_attributes)  # by the solver; the importers add some of their own
    if asset.format is FORMATS["mjcf"]:
        declare_axis_names(builder)
        _declare_actuators(builder)
    try:
        with _named_warnings(asset.file):
            normal = _normal_form(asset, builder.default_shape_cfg.density)
            if asset.urdf is not None:
                add_urdf(builder, asset.urdf, _arguments(builder, asset))
            elif asset.format.importer is not None:
                _add_by_plugin(builder, asset, asset.format.importer)
            elif asset.format is FORMATS["usd"]:
                _add_usd(builder, asset)
            else:
                source = str(asset.file) if normal is None else normal.text
                builder.add_mjcf(source, **_arguments(builder, asset))
    except (ConfigError, Warning):
        raise
    except Exception as error:  # importers raise errors of any class, even StopIteration
        raise ConfigError(failure(asset, error)) from error
    _leave_out_remote_textures(builder, asset.file)
    if asset.format is FORMATS["mjcf"]:
        forget_needless_names(builder)
        keep_dimensions(builder)
    if not (builder.body_count or builder.shape_count or builder.particle_count):
        raise ConfigError(f"{asset.where}.path: {str(asset.file)!r} holds no body and no shape; name another file")
    if normal is not None:
        is_another = asset.config.floating is not None or asset.config.collapse_fixed_joints
        complete(builder, normal, is_as_written=not is_another)
    _set_attributes(builder, asset.config.attributes, registered, f"{asset.where}.attributes")
    if asset.config.bounding_boxes:
        builder.approximate_meshes("bounding_box")
    _thicken(builder, asset.config.body_armature)
    _set_start(builder, asset, normal)
    return normal


def _leave_out_remote_textures(builder: newton.ModelBuilder, file: Path) -> None:
    for mesh in builder.shape_source:
        if isinstance(name := getattr(mesh, "texture", None), str) and is_remote(name):
            mesh.texture = None
            _LOGGER.log(NOTE, f"{file.name}: texture {name!r} is not drawn: Pippin downloads nothing")


def _thicken(builder: newton.ModelBuilder, inertia: float) -> None:
    """Add an inertia [kg·m²] to all bodies that have a mass, about every axis."""
    for body in range(builder.body_count) if inertia else ():
        if builder.body_mass[body] > 0.0:
            total: Any = np.array(builder.body_inertia[body]).reshape(3, 3) + inertia * np.eye(3)
            builder.body_inertia[body] = wp.mat33(total)
            builder.body_inv_inertia[body] = wp.mat33(np.linalg.inv(total))


def _declare_actuators(builder: newton.ModelBuilder) -> None:
    """Let a builder keep the actuators, tendons and dimensions of contacts of an MJCF file that is added later.

    Newton's importer drops them without a word otherwise, and nobody could tell that the solver has no such thing.
    """
    known = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(known)
    for name in _KEPT_FREQUENCIES:
        builder.add_custom_frequency(known.custom_frequencies[name])
    for key, attribute in known.custom_attributes.items():
        if attribute.frequency in _KEPT_FREQUENCIES or key in _KEPT:
            builder.add_custom_attribute(attribute)


def _add_by_plugin(builder: newton.ModelBuilder, asset: Asset, importer: Importer) -> None:
    part = copy.deepcopy(builder)
    try:
        importer.add_asset(part, asset.file, asset.config)
    except ConfigError as error:
        error.restate(lambda fault: f"{asset.where}: {fault}")
        raise
    builder.add_builder(part, xform=wp.transform(asset.config.position, asset.config.rotation))


def _normal_form(asset: Asset, density: float) -> NormalMJCF | None:
    """Return an MJCF file as MuJoCo understands it; None for another format, or if the configuration says so.

    With a scale or a density of the scene [kg/m³], inertias are left to Newton, which computes them from the shapes.
    """
    if not is_normalised(asset.config):
        return None
    folders = dict.fromkeys(element.file.parent for element in asset.elements)
    is_as_written = asset.config.scale is None and density == newton.ModelBuilder.ShapeConfig().density
    return normalise(
        asset.file,
        folders,
        _ignored_names(asset),
        has_integrator=any(each.tag == "option" and "integrator" in each.attributes for each in asset.elements),
        has_inertias=is_as_written,
    )


def _add_usd(builder: newton.ModelBuilder, asset: Asset) -> None:
    """Add a stage, repaired, with the attributes of MuJoCo that it states."""
    from pxr import Usd

    stage, where = open_stage(asset.file), f"{asset.where}.path: '{asset.file}'"
    refuse_broken_meshes(stage, where)
    refuse_units(stage, where)
    prims = list(stage.Traverse(Usd.TraverseInstanceProxies()))
    if any(name.startswith("mjc:") for prim in prims for name in prim.GetAuthoredPropertyNames()):
        _declare_actuators(builder)
    repair(stage, has_compensation="mujoco:gravcomp" in builder.custom_attributes)
    articulate(stage, ignored_paths(stage, asset.config, asset.where))
    arguments = _arguments(builder, asset) | {"ignore_paths": skipping_patterns(stage, asset.config, asset.where)}
    # Vendors' attributes: Newton's, then MuJoCo's if the solver or the file has any.
    resolvers: list[newton.usd.SchemaResolver] = [usd.SchemaResolverNewton(), usd.SchemaResolverPhysx()]
    if any(attribute.namespace == "mujoco" for attribute in builder.custom_attributes.values()):
        resolvers.append(usd.SchemaResolverMjc())
    builder.add_usd(stage, **arguments, schema_resolvers=resolvers)
    for dof, mode in enumerate(builder.joint_target_mode):
        if builder.joint_target_qd[dof] and mode == newton.JointTargetMode.POSITION:  # stiff drives have a speed, too
            builder.joint_target_mode[dof] = int(newton.JointTargetMode.POSITION_VELOCITY)
    _root_single_joints(builder)
    for shape, scale in enumerate(builder.shape_scale):
        if max(scale) < 0.0:  # as Newton writes a mirror; without a size above zero, MuJoCo's conversion refuses it
            builder.shape_scale[shape] = wp.vec3(scale[0], -scale[1], -scale[2])
            builder.shape_transform[shape] *= wp.transform(wp.vec3(), wp.quat(1.0, 0.0, 0.0, 0.0))
    if pulling := [*start_where_placed(builder)]:
        what = "bodies do not start where the stage has them, as joints hold them elsewhere"
        _LOGGER.log(NOTE, f"{asset.file.name}: {what}: {listed(pulling)}")


def _root_single_joints(builder: newton.ModelBuilder) -> None:
    """Make an articulation of each joint that alone holds a body to the world: the importer leaves it outside of any,
    where no solver moves its body.
    """
    placed = {child for child, of in zip(builder.joint_child, builder.joint_articulation, strict=True) if of >= 0}
    for joint, (parent, child) in enumerate(zip(builder.joint_parent, builder.joint_child, strict=True)):
        if parent < 0 and child not in placed:
            builder.add_articulation([joint], label=builder.joint_label[joint])
            placed.add(child)
    order = sorted(range(builder.articulation_count), key=builder.articulation_start.__getitem__)
    for name in ("start", "end", "label", "world"):
        values = getattr(builder, f"articulation_{name}")
        values[:] = [values[index] for index in order]
    builder.joint_articulation[:] = [order.index(of) if of >= 0 else of for of in builder.joint_articulation]


def _arguments(builder: newton.ModelBuilder, asset: Asset) -> dict[str, Any]:
    options = given_options(asset.config)
    if "ignore" in options and asset.format is not FORMATS["usd"]:
        # Importers match expressions from the start of a name only.
        options["ignore"] = [rf"{re.escape(name)}\Z" for name in _ignored_names(asset)]
    keywords = asset.format.keywords
    arguments: dict[str, Any] = {keywords[name]: value for name, value in options.items() if name in keywords}
    arguments["xform"] = wp.transform(asset.config.position, asset.config.rotation)
    if asset.format is not FORMATS["usd"]:
        arguments["mesh_maxhullvert"] = -1  # as in MuJoCo; hulls of 64 vertices, Newton's, touch millimetres later
    if asset.format is FORMATS["mjcf"]:
        arguments["verbose"] = True  # without it, the importer silently leaves out geometry that it cannot read
        if is_normalised(asset.config):
            # As in MuJoCo, the masks of a geom decide if it collides, and not the name of its class.
            arguments |= {"visual_classes": (), "collider_classes": ()}
    return arguments


def _ignored_names(asset: Asset) -> list[str]:
    if not asset.config.ignore:
        return []
    named = (element.attributes.get("name") for element in asset.elements if element.tag in ("geom", "site"))
    names = list(dict.fromkeys(name for name in named if name))
    return [names[i] for i in match(asset.config.ignore, names, "name", f"{asset.where}.ignore")]


def _set_start(builder: newton.ModelBuilder, asset: Asset, normal: NormalMJCF | None) -> None:
    """Set the start pose of the keyframe, then that of single joints, then the targets of servos."""
    if asset.config.keyframe is None:
        placed = _place_joints(builder, asset)
        if asset.urdf is not None:
            _start_within_limits(builder, placed, asset.file)
            release_links(builder, collides=asset.config.self_collisions is not False)
            builder.body_q[:] = start_poses(builder)
            if asset.config.self_collisions is None and asset.config.convex_hulls:
                _part_overlapping(builder, asset.file)
        if asset.format is FORMATS["mjcf"]:
            zero_targets(builder)
        return
    if normal is None:
        raise ConfigError(f"{asset.where}.keyframe: {asset.config.keyframe!r} beside normalise = false; leave one out")
    keyframe = start_at(builder, normal.model, asset.config, asset.where)
    if parts := keyframe.left_out():
        _LOGGER.log(NOTE, f"{asset.where}.keyframe: leaves out {'; '.join(parts)}")
    _place_joints(builder, asset)
    keyframe.set_targets()


def _place_joints(builder: newton.ModelBuilder, asset: Asset) -> set[int]:
    positions, where = asset.config.joint_positions, f"{asset.where}.joint_positions"
    if not positions:
        return set()
    axes, note = choose_axes(builder, positions, where)
    if note is not None:
        _LOGGER.log(NOTE, note)
    for (joint, axis), pattern in zip(axes, assign(positions, list(axes.values()), "joint", where), strict=True):
        assert pattern is not None, "each axis was chosen by a pattern"
        builder.joint_q[builder.joint_q_start[joint] + axis] = positions[pattern]
    return {joint for joint, _ in axes}


def _start_within_limits(builder: newton.ModelBuilder, placed: Collection[int], file: Path) -> None:
    """Start joints at the limit nearest to 0 if their limits leave 0 out: a URDF states limits, and no start."""
    moved = []
    for joint in set(range(builder.joint_count)) - {*placed}:
        if builder.joint_type[joint] in (newton.JointType.REVOLUTE, newton.JointType.PRISMATIC):
            at, dof = builder.joint_q_start[joint], builder.joint_qd_start[joint]
            nearest = min(max(0.0, builder.joint_limit_lower[dof]), builder.joint_limit_upper[dof])
            if nearest:
                builder.joint_q[at] = nearest
                moved.append(f"{builder.joint_label[joint].rpartition('/')[2]!r} at {nearest:g}")
    if moved:
        rest = f"start at the limit nearest to 0, which their limits leave out: {listed(moved)}"
        _LOGGER.log(NOTE, f"{file.name}: joints without a position in joint_positions {rest}")


def _part_overlapping(builder: newton.ModelBuilder, file: Path) -> None:
    pairs = part_overlapping(builder)
    names = [label.rpartition("/")[2] for label in builder.body_label]
    found = (f"{names[first]} and {names[second]} {1000 * depth:.3g} mm" for (first, second), depth in pairs.items())
    if pairs:
        rest = "so they do not collide with each other; self_collisions = true of the asset lets them"
        _LOGGER.log(NOTE, f"{file.name}: links overlap in the start pose, {rest}: {listed(found)}")


@contextlib.contextmanager
def _named_warnings(file: Path) -> Iterator[None]:
    logged = BufferingHandler(sys.maxsize)
    logged.setLevel(logging.WARNING)
    logger = logging.getLogger("newton")
    logger.addHandler(logged)
    try:
        with warnings.catch_warnings(record=True, action="always") as warned:
            yield
    finally:
        logger.removeHandler(logged)
    for warning in warned:
        warnings.warn(f"{file}: {warning.message}", warning.category, stacklevel=4)
    for record in logged.buffer:
        if "torquescale=0," in record.getMessage():
            continue  # such a weld is the ball joint that Newton makes of it
        warnings.warn(f"{file}: {record.getMessage()}", UserWarning, stacklevel=4)


_PARTS = {
    newton.Model.AttributeFrequency.BODY: ("body", "body_label"),
    newton.Model.AttributeFrequency.SHAPE: ("shape", "shape_label"),
    newton.Model.AttributeFrequency.JOINT: ("joint", "joint_label"),
}
"""The frequencies of attributes whose parts have labels."""


def _set_attributes(
    builder: newton.ModelBuilder,
    stated: Mapping[str, Mapping[str, float | tuple[float, ...]]],
    registered: Collection[str],
    where: str,
) -> None:
    """Set attributes of the asset alone that the solver has registered.

    What is `stated` is a number, or a number for each component, by pattern of the labels of parts, by `SOLVER:NAME`.
    """
    known = [key for key, each in builder.custom_attributes.items() if each.frequency in _PARTS and key in registered]
    for key, values in stated.items():
        if key not in known:
            cure = did_you_mean(key, known) or f"; it has {', '.join(known) or 'none'}"
            raise ConfigError(f"{where}: the solver has no attribute {key!r} of bodies, shapes or joints{cure}")
        attribute = builder.custom_attributes[key]
        kind, labels = _PARTS[attribute.frequency]  # pyrefly: ignore[bad-index]
        rows: dict[int, Any] = {**(attribute.values or {})}  # pyrefly: ignore[invalid-argument]
        for pattern, value in values.items():
            place = f"{where}.{key}.{pattern}"
            number = typed(attribute.dtype, value, place)
            rows |= dict.fromkeys(match(pattern, getattr(builder, labels), kind, place), number)
        attribute.values = rows
