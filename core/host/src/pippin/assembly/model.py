"""Construction of the model of all worlds from a configuration and its components."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import attrs
import newton
import numpy as np
import warp as wp
from pippin.assets.actuators.asset_actuators import AssetActuators, prepare_actuators
from pippin.assets.actuators.servos import fold_servos
from pippin.assets.asset import is_normalised
from pippin.assets.mjcf.completion import drop_frictions, has_dimensions, raise_dimensions
from pippin.assets.report import Imported
from pippin.components.registry import Components, Implementation
from pippin.config import CollisionConfig, SceneConfig, ShapeConfig, SimulationConfig
from pippin.config.model import BodyMassConfig
from pippin.errors import ConfigError
from pippin.indices import listed_worlds
from pippin.inertias import inertia_fault, symmetric
from pippin.labels import NoMatchError, assign, match, no_match
from pippin.objects.adding import add_objects
from pippin.solving.conversion import thicken_laminae
from pippin.state.world_layout import ObjectParts, WorldLayout
from pippin.support.declaration import Declaration
from pippin.support.features import OF_ATTRIBUTES
from pippin.support.solver_support import make_settable
from pippin.support.used_features import used_features
from pippin.terrains.grid import TerrainGrid

from .merged_frames import merge_frames, with_cure
from .scene import add_assets, add_worlds, contents_of_worlds, finalize, new_builder, refuse_still
from .tiling import Finished, tiled

Prototype: TypeAlias = "newton.ModelBuilder | Sequence[tuple[newton.ModelBuilder, int]]"
"""The content of one world; or several contents, each with its number of neighbouring worlds."""


def build_model(
    components: Components, config: SimulationConfig, prototype: Prototype | None, device: wp.Device
) -> tuple[newton.Model, WorldLayout, list[Imported]]:
    """Run every hook of the builder, and return the model of all worlds, the layout of these worlds, and the assets.

    A prototype, in place of the scene's assets, is copied; several are given with their numbers of neighbouring worlds.

    Raises:
        ConfigError: An asset cannot be read, a world is empty, the scene sets something that the prototype decides,
            or Newton refuses the model.
    """
    scene = config.scene
    imports: list[Imported] = []
    empty: list[newton.ModelBuilder] = []
    objects = []
    solver = components.single("build_solver")  # none in a check of the scene alone
    declared = None if solver is None else components.declarations[solver.owner]
    if prototype is None:
        worlds, prototype_of_world, objects = _from_assets(components, scene, imports, declared)
    else:
        empty = [empty_builder(components, scene)]
        worlds, prototype_of_world = _from_prototypes(empty[0].rigid_gap, prototype, scene)
    layout = WorldLayout(prototype_of_world=prototype_of_world, objects=objects)
    for answer in components.implementations("fill_prototype"):
        for index, builder in enumerate(worlds):
            with _placed(layout, [index]):
                answer.call(builder=builder, prototype=index)
    if scene.settable_joints and declared is not None:
        for world in worlds:
            make_settable(world, declared.features_fixed_at_build, declared.features_kept_from_build)
    try:
        layout = _extend(components, worlds, layout)
    except ConfigError as error:
        error.restate(lambda fault: with_cure(fault, worlds))
        if isinstance(error, NoMatchError):
            _refuse_still(worlds, scene, layout)  # the better reason
        raise
    _refuse_still(worlds, scene, layout)
    is_for_mujoco = reads_dimensions(components)
    for world in worlds:
        thicken_laminae(world)
        if not is_for_mujoco:
            fold_servos(world)
    terrain = TerrainGrid.of(scene, config.simulation.seed, components.catalog)
    has_valid_inertias = prototype is None and all(map(is_normalised, scene.assets))

    def of_runs(runs: Iterable[tuple[int, int]]) -> Finished:
        builder = empty.pop() if empty else empty_builder(components, scene)
        add_worlds(builder, ((worlds[index], count) for index, count in runs), scene, terrain)
        return _finished(components, config, builder, device, has_valid_inertias, is_for_mujoco)

    completes = components.implementations("complete_builder") or components.wrappers("complete_builder")
    model = None if completes or terrain is not None else tiled(of_runs, layout.prototype_of_world)
    model = of_runs(layout.runs())[0] if model is None else model
    if terrain is not None:
        layout = attrs.evolve(layout, places=terrain.places(scene, model))
    _refuse_state_attributes(model)
    _set_particle_numbers(model, config.collision)
    for each in worlds:
        each.custom_attributes.clear()
    return model, layout, imports


def _finished(
    components: Components,
    config: SimulationConfig,
    builder: newton.ModelBuilder,
    device: wp.Device,
    has_valid_inertias: bool,
    is_for_mujoco: bool,
) -> Finished:
    """Return the model of a builder that has its worlds, and the builder."""
    raise_dimensions(builder)
    if not is_for_mujoco:
        drop_frictions(builder)
    components.call_each("complete_builder", builder=builder)
    has_gradients = config.simulation.requires_grad
    model = finalize(builder, device, requires_grad=has_gradients, has_valid_inertias=has_valid_inertias)
    builder.custom_attributes.clear()  # those of solvers refer back to the builder, which nobody needs any more
    return model, builder


def features_of(model: newton.Model, collision: CollisionConfig | None = None) -> dict[str, Sequence[str]]:
    """Return the features that a model needs, each with its users, and those that keys of `[collision]` ask for."""
    asked: dict[str, list[str]] = {}
    for name in () if collision is None else collision.particle_numbers():
        asked.setdefault(OF_ATTRIBUTES[name], []).append(f"collision.{name}")
    return used_features(model, AssetActuators(model).direct()) | asked


def reads_dimensions(components: Components) -> bool:
    """Tell whether the solver reads dimensions of contacts: its `configure_builder` registers them."""
    builder, solver = newton.ModelBuilder(), components.single("build_solver")
    for answer in components.implementations("configure_builder"):
        if solver is not None and answer.owner == solver.owner:
            answer.call(builder=builder)
    return has_dimensions(builder)


def _set_particle_numbers(model: newton.Model, collision: CollisionConfig) -> None:
    for name, value in collision.particle_numbers().items():
        if not model.particle_count:
            raise ConfigError(f"collision.{name}: {value:g}, but the scene has no particles; leave it out")
        setattr(model, name, value)


def _refuse_state_attributes(model: newton.Model) -> None:
    """Refuse reports of a solver that are requested as parts of the state: most solvers leave them at zero."""
    requested = sorted(set(model.get_requested_state_attributes()) & newton.State.EXTENDED_ATTRIBUTES)
    if requested:
        listed = ", ".join(f'"{name}"' for name in requested)
        raise ConfigError(
            f"prototype: request_state_attributes({listed}) adds to the state what most solvers do not write; leave it"
            f" out, set simulation.observables = [{listed}], and read `Simulation.observables`"
        )


def _from_assets(
    components: Components, scene: SceneConfig, imports: list[Imported], declared: Declaration | None
) -> tuple[list[newton.ModelBuilder], np.ndarray, list[tuple[ObjectParts, ...]]]:
    """Return one prototype for each distinct set of assets and objects, the prototype index of each world, and the
    objects of each prototype. Each asset is added once to `imports`.
    """
    distinct, prototype_of_world = contents_of_worlds(scene)
    builders, objects, added_by_content = [], [], []
    for contents in distinct:
        builder = empty_builder(components, scene)
        known = {each.asset.where for each in imports}
        has_own_contacts = declared is None or declared.detects_contacts
        added = add_assets(builder, scene, contents.assets, components.catalog, has_own_contacts=has_own_contacts)
        imports += [each for each in added if each.asset.where not in known]
        objects.append(add_objects(builder, scene, contents.objects, components.catalog))
        added_by_content.append(added)
        builders.append(builder)
    set_body_masses(builders, scene.bodies)
    for builder, added in zip(builders, added_by_content, strict=True):
        if declared is not None:
            merge_frames(builder, declared, added)
    return builders, prototype_of_world, objects


def empty_builder(components: Components, scene: SceneConfig) -> newton.ModelBuilder:
    """Return an empty builder, as the components want it."""
    builder = new_builder(scene)
    components.call_each("configure_builder", builder=builder)
    return builder


def _from_prototypes(
    gap: float, prototype: Prototype, scene: SceneConfig
) -> tuple[list[newton.ModelBuilder], np.ndarray]:
    for key in ("assets", "objects", "bodies", "joints", "sites", "tendons", "attachments", "filters"):
        if getattr(scene, key):
            raise ConfigError(f"scene.{key}: given beside a prototype built in Python; leave one of the two out")
    if scene.shapes != ShapeConfig():
        raise ConfigError(
            "scene.shapes: given beside a prototype built in Python, whose shapes are made already;"
            " set default_shape_cfg of the builder instead"
        )
    runs = prototype if isinstance(prototype, Sequence) else [(prototype, scene.worlds)]
    total = sum(count for _, count in runs)
    if total != scene.worlds or any(count < 1 for _, count in runs):
        raise ConfigError(
            f"scene.worlds: {scene.worlds}, but the prototypes are for {' + '.join(str(count) for _, count in runs)}"
            " worlds; give each at least one, and let their sum be scene.worlds"
        )
    distinct = list({id(builder): builder for builder, _ in runs}.values())
    order = [id(builder) for builder in distinct]
    of_world = np.repeat([order.index(id(builder)) for builder, _ in runs], [count for _, count in runs])
    return [_copied(builder, scene, gap) for builder in distinct], of_world


def _copied(prototype: newton.ModelBuilder, scene: SceneConfig, gap: float) -> newton.ModelBuilder:
    """Return a copy, in which shapes with Newton's default gap have that of the solver [m]."""
    if prototype.actuator_entries:
        raise ConfigError(
            "prototype: has actuators of Newton's own, which nothing here steps; clear its actuator_entries,"
            " and give it [actuators]"
        )
    builder = copy.deepcopy(prototype, {id(each): _own(each) for each in prototype.custom_attributes.values()})
    if scene.gravity is not None:
        builder.gravity = scene.gravity
    unset = newton.ModelBuilder().rigid_gap
    builder.rigid_gap, *builder.shape_gap = (
        gap if each == unset else each for each in (builder.rigid_gap, *builder.shape_gap)
    )
    return builder


def _own(attribute: newton.ModelBuilder.CustomAttribute) -> newton.ModelBuilder.CustomAttribute:
    """Return a copy of an attribute with values of its own; a solver registers a hundred, and most have no value."""
    own = copy.copy(attribute)
    own.values = copy.deepcopy(attribute.values)
    return own


def _extend(components: Components, worlds: Sequence[newton.ModelBuilder], layout: WorldLayout) -> WorldLayout:
    """Let the components extend every prototype, and note the prototypes in which each component found its elements."""
    for builder in worlds:
        prepare_actuators(builder)
    if components.wrappers("extend_prototype"):
        for index, builder in enumerate(worlds):
            components.call("extend_prototype", builder=builder, prototype=index)
        return layout
    holders = {}
    for implementation in components.implementations("extend_prototype"):
        holders[implementation.owner] = _holders(implementation, worlds, layout)
    return attrs.evolve(layout, holders=holders)


def _refuse_still(worlds: Sequence[newton.ModelBuilder], scene: SceneConfig, layout: WorldLayout) -> None:
    for index, builder in enumerate(worlds):
        refuse_still(builder, scene, listed_worlds(layout.worlds_of([index])) if len(worlds) > 1 else "")


@contextmanager
def _placed(layout: WorldLayout, prototypes: Sequence[int]) -> Iterator[None]:
    """Let faults that a block raises about some prototypes name their worlds, if worlds differ."""
    try:
        yield
    except NoMatchError:
        raise
    except ConfigError as error:
        if layout.prototype_count == 1:
            raise
        place = listed_worlds(layout.worlds_of(prototypes))
        raise type(error)(*(f"{fault} (in {place})" for fault in error.faults)) from error


def _holders(
    implementation: Implementation, worlds: Sequence[newton.ModelBuilder], layout: WorldLayout
) -> tuple[int, ...]:
    holders, missed = [], []
    for index, builder in enumerate(worlds):
        try:
            with _placed(layout, [index]):
                implementation.call(builder=builder, prototype=index)
            holders.append(index)
        except NoMatchError as error:
            missed.append(error)
    if missed and not holders:
        raise type(missed[0])(*dict.fromkeys(fault for error in missed for fault in error.faults)) from missed[0]
    return tuple(holders)


_BODIES = "scene.bodies"


def set_body_masses(builders: Iterable[newton.ModelBuilder], tables: Mapping[str, BodyMassConfig]) -> None:
    """Write the numbers of the file into the contents of the worlds.

    Raises:
        ConfigError: A pattern matches no body of any world, two match one body, or an inertia is that of no body.
    """
    builders = list(builders)
    matched: set[str] = set()
    for builder in builders if tables else ():
        known = [pattern for pattern in tables if _matches(pattern, builder.body_label)]
        owners = assign(known, builder.body_label, "body", _BODIES) if known else []
        for body, owner in enumerate(owners):
            if owner is not None:
                matched.add(owner)
                _set_mass(builder, body, tables[owner], f"{_BODIES}.{owner!r}")
    every = [label for builder in builders for label in builder.body_label]
    faults = [no_match(pattern, every, "body", _BODIES) for pattern in tables if pattern not in matched]
    if faults:
        raise ConfigError(*faults)


def _matches(pattern: str, labels: Sequence[str]) -> bool:
    try:
        return bool(match(pattern, labels, "body", _BODIES))
    except NoMatchError:
        return False


def _set_mass(builder: newton.ModelBuilder, body: int, table: BodyMassConfig, where: str) -> None:
    inertia: Any = np.array(builder.body_inertia[body], dtype=float).reshape(3, 3)
    if table.mass is not None:
        if table.inertia is None and builder.body_mass[body] > 0.0:
            inertia = inertia * (table.mass / builder.body_mass[body])
        builder.body_mass[body], builder.body_inv_mass[body] = table.mass, 1.0 / table.mass
    if table.com is not None:
        builder.body_com[body] = wp.vec3(*table.com)
    if table.inertia is not None:
        inertia = symmetric(table.inertia)
        if fault := inertia_fault(inertia):
            raise ConfigError(f"{where}.inertia: {fault}")
    if not builder.body_mass[body] > 0.0:
        raise ConfigError(f"{where}: {builder.body_label[body]!r} has no mass; give it one, too")
    builder.body_inertia[body] = wp.mat33(inertia)
    builder.body_inv_inertia[body] = wp.mat33(np.linalg.inv(inertia) if inertia.any() else inertia)
