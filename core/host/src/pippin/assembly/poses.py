"""Scenes that nothing steps: the model of one world with what a solver lacks for it, and the poses for a replay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import attrs
import newton
import warp as wp
from pippin.assets.actuators.prims import find_prim_actuators
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components
from pippin.config import SimulationConfig
from pippin.config.component import Unread
from pippin.devices import WARP_LOCK, find_device, leave_out_backward_kernels
from pippin.objects.adding import add_objects
from pippin.state.world_layout import ObjectParts
from pippin.support.declaration import Declaration
from pippin.support.requirements import find_gaps

from .model import build_model, empty_builder, features_of
from .scene import add_assets


def first_world(config: SimulationConfig) -> newton.Model:
    """Return the model of a configuration with one world, on the CPU; with all worlds if they differ.

    Actuators, the solver and plugins extend it as they do in a simulation. No kernel of a step is loaded.

    Args:
        config: The configuration.

    Raises:
        ConfigError: As for a simulation.
    """
    leave_out_backward_kernels()
    if config.scene.has_equal_worlds:
        config = attrs.evolve(config, scene=attrs.evolve(config.scene, worlds=1))
    catalog = config.catalog.restrict(Catalog.installed())
    components = Components(config, (), catalog, of_stages={"actuators": find_prim_actuators(config, catalog)})
    with closing(components), wp.ScopedDevice(find_device("cpu")) as device:
        return build_model(components, config, None, device)[0]


def lacking_features(model: newton.Model, solver: str) -> Sequence[str]:
    """Return the features of a model that a solver lacks and a user has to accept, as a simulation would refuse them.

    Args:
        model: The model.
        solver: Name of the solver.

    Raises:
        PluginError: The solver is not installed, or is broken.
    """
    declared = Declaration.of(Catalog.installed().find("solver", solver).load(), solver)
    return list(find_gaps(features_of(model), declared, (), (), are_stated=True).refused)


@attrs.frozen(kw_only=True, eq=False)
class ScenePoses:
    """A scene that does not move by itself."""

    config: SimulationConfig
    """The configuration of the simulation."""

    model: newton.Model
    """The model of its first worlds, on the CPU."""

    state: newton.State
    """Poses to write."""

    @property
    def device(self) -> wp.Device:
        """The device of the model."""
        return self.model.device

    @property
    def control_dt(self) -> float:
        """Length of a control step [s]."""
        return self.config.simulation.control_dt

    @property
    def world_count(self) -> int:
        """The number of worlds of the simulation."""
        return self.config.scene.worlds


def build_poses(config: SimulationConfig, worlds: int) -> ScenePoses:
    """Return the scene with its first worlds, of which there may be more if they differ. No step's kernel is loaded.

    Args:
        config: The configuration of the simulation.
        worlds: Number of worlds.

    Raises:
        ConfigError: As for a simulation.
    """
    scene = attrs.evolve(config.scene, settable_joints=False)
    if scene.has_equal_worlds:
        scene = attrs.evolve(scene, worlds=min(worlds, scene.worlds))
    with components_at_rest(attrs.evolve(config, scene=scene)) as (still, components, device):
        model, _, _ = build_model(components, still, None, device)
        state = model.state(requires_grad=False)
    return ScenePoses(config=config, model=model, state=state)


@contextmanager
def components_at_rest(config: SimulationConfig) -> Iterator[tuple[SimulationConfig, Components, wp.Device]]:
    """Yield a configuration without what drives and observes its scene, its components, and the CPU.

    The solver stays: it registers attributes that objects set, and nothing builds it.
    """
    device, plugins = find_device("cpu"), config.tables.get("plugins") or {}
    still = attrs.evolve(
        config,
        simulation=attrs.evolve(config.simulation, device="cpu", requires_grad=False),
        # Those that may add to the scene itself.
        tables={name: config.tables[name] for name in ("solver",) if name in config.tables}
        | {"plugins": {label: each for label, each in plugins.items() if not isinstance(each.config, Unread)}},
    )
    components = Components(still, (), config.catalog.restrict(Catalog.installed()))
    with components.closed_on_failure(), WARP_LOCK, wp.ScopedDevice(device):
        yield still, components, device
    components.close()


@attrs.frozen(kw_only=True, eq=False)
class WholeScene:
    """Everything that a scene lists, whichever worlds have it, in one builder."""

    builder: newton.ModelBuilder
    """The content: first the assets, then the objects with what is on them."""

    objects: tuple[ObjectParts, ...]
    """Where each object lies in it."""

    first_particle: int
    """Number of the first particle that an object has brought, as for bodies, joints and shapes."""

    first_body: int
    first_joint: int
    first_shape: int


def scene_builder(config: SimulationConfig) -> newton.ModelBuilder:
    """Return a builder with the assets and the objects of all worlds of a scene, which no solver has seen.

    Args:
        config: The configuration of the simulation.

    Raises:
        ConfigError: An asset or an object cannot be added.
    """
    return whole_scene(config).builder


def whole_scene(config: SimulationConfig) -> WholeScene:
    """Return the assets and the objects of all worlds of a scene together.

    Raises:
        ConfigError: An asset or an object cannot be added.
    """
    with components_at_rest(config) as (still, components, _):
        scene, catalog = still.scene, components.catalog
        builder = empty_builder(components, scene)
        add_assets(builder, scene, catalog=catalog)
        first = {f"first_{kind}": getattr(builder, f"{kind}_count") for kind in ("particle", "body", "joint", "shape")}
        objects = add_objects(builder, scene, range(len(scene.objects)), catalog)
    return WholeScene(builder=builder, objects=objects, **first)
