"""Kinds of plugins as the kit tests them: their checks, the simulations in which a plugin of each kind stands, and the
components of the kit there: a solver, and an actuator and a sensor that carry a plugin.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import newton
import pippin
import warp as wp
from newton.actuators import DrivePD
from pippin import Binding, ComponentConfig, PluginError
from pippin.actuation import ActuatorConfig, DriveActuator, Lanes
from pippin.catalog import Kind
from pippin.sensing import FrameConfig, Output, Sensor, SensorConfig
from pippin.solving import RIGID_TREES

from .outcomes import Check

LABEL = "tested"
"""Label of the plugin in the simulations that test it; a solver has none."""

Table = Mapping[str, Any]

_OF_SCENE: Table = {
    "joints": ["hinge_0"],
    "body": "ball",
    "bodies": ["ball"],
    "output": "velocity",
    "of": "joint-velocities",
    "weight": 1.0,
}
"""Values for required keys that the author of a plugin does not set: parts of the kit's scene."""

_MOVED = frozenset({"bodies", "particles", "joints", "actuator", "goal_of", "force_on"})
"""Keys of a motion that name what moves."""

CONFIGURED = ("entry_point", "light_import", "documented_keys", "round_trip", "unknown_keys", "schema")
"""Checks of every plugin with a configuration."""

SIMULATED = (*CONFIGURED, "lifecycle", "checkpoint", "side_by_side")
"""Checks of every plugin that takes part in a simulation."""

STEPPED = (*SIMULATED, "capture", "determinism", "allocation")
"""Checks of every plugin that acts within the step, and may be recorded."""

FORGETTING = (*STEPPED, "reset", "worlds")
"""Checks of every plugin of which a reset forgets what it remembers of a world."""


def actuator_with(clamping: ComponentConfig | None) -> PlainActuator:
    """Return the actuator that carries a clamping; None means the actuator alone."""
    return PlainActuator(ActuatorConfig(joints=(".*",), clamping=() if clamping is None else (clamping,)))


def sensor_with(stage: ComponentConfig | None) -> PlainSensor:
    """Return the sensor that carries a stage; None means the sensor alone."""
    return PlainSensor(SensorConfig(stages=() if stage is None else (stage,)))


class PlainActuator(DriveActuator):
    """PD control of every axis, with efforts of tens of newton metres."""

    def build_drive(self, lanes: Lanes) -> DrivePD:
        """Return Newton's drive, with gains in N·m/rad and N·m·s/rad."""
        return DrivePD(kp=lanes.per_lane(100.0, "kp"), kd=lanes.per_lane(1.0, "kd"))


class PlainSensor(Sensor):
    """Velocity of every body's centre of mass, and its rotation."""

    def build_outputs(self, binding: Binding) -> Mapping[str, Output]:
        """Return the velocities, one row for each world."""
        simulation = binding.simulation
        shape: Any = (simulation.world_count, simulation.model.body_count // simulation.world_count)
        kind: Any = wp.spatial_vector
        self._velocities: Any = wp.zeros(shape, dtype=kind, device=simulation.device)
        return {"velocity": Output(data=self._velocities, unit="m/s, rad/s", frame="world")}

    def measure(self, state: newton.State, contacts: Any, observables: Any, dt: float) -> None:
        """Copy the velocities of the state."""
        velocities: Any = state.body_qd
        wp.copy(self._velocities.flatten(), velocities)


class PlainSolver:
    """Component that builds Newton's XPBD."""

    coordinates = "maximal"
    supported_features = RIGID_TREES

    @property
    def supported_observables(self) -> frozenset[str]:
        """Those of Newton's XPBD, whose import takes a third of a second: kits of other solvers go without it."""
        return newton.solvers.SolverXPBD.SUPPORTED_OBSERVABLES

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverXPBD:
        """Return the solver of a model."""
        return newton.solvers.SolverXPBD(model, iterations=4)


def of_scene(config: type, given: Table) -> dict[str, Any]:
    """Return values for the required keys of a configuration: parts of the kit's scene."""
    fields = attrs.fields_dict(config)
    found = {name: value for name, value in _OF_SCENE.items() if name in fields}
    needed = {name: value for name, value in found.items() if fields[name].default is attrs.NOTHING}
    is_frame = issubclass(config, FrameConfig) and "site" not in given
    return needed | ({"body": found["body"]} if is_frame else {})


def _none(config: type, given: Table) -> dict[str, Any]:
    return {}


def _driven(config: type, given: Table) -> dict[str, Any]:
    forced = {} if _MOVED & given.keys() else {"force_on": {"of": "ball"}, "along": (1.0, 0.0, 0.0)}
    return of_scene(config, given) | forced


@attrs.frozen(kw_only=True)
class KindChecks:
    """Checks and simulations of one kind of plugins. The record of the kind names it: `checks = "module:NAME"`."""

    names: Sequence[str] = CONFIGURED
    """Names of the kit's checks that plugins of this kind promise, in any order."""

    own: Sequence[Check] = ()
    """Checks of this kind alone, which run after those of the kit."""

    settings: Callable[[type, Table], dict[str, Any]] = of_scene
    """Returns values for required keys that the author of a plugin does not set, from the class of its configuration
    and the author's keys."""

    tables: Table = attrs.field(factory=dict)
    """Tables that a file needs beside the plugin's own one."""

    carrier: Callable[[ComponentConfig | None], Any] | None = None
    """Returns the component of the kit that carries a plugin which is none itself; None means it without the plugin."""

    content: Callable[[Table], dict[str, Any]] | None = None
    """Returns the keys of `[scene]` that hold the plugin's table, for one that adds to a scene."""

    reads_file: bool = False
    """Whether a plugin needs a file that it reads."""

    acts_each_substep: bool = True
    """Whether a plugin acts in each substep, or once in a physics step."""


SOLVER = KindChecks(
    names=(
        *FORGETTING,
        *("substeps", "isolation", "delay", "divergence", "free_fall", "pendulum", "coordinates", "contacts"),
        *("feature*", "pair_*", "tree_*", "forms", "relation_*", "observable*", "model_changes", "change_*"),
    ),
    settings=_none,
)
ACTUATOR = KindChecks(
    names=(*FORGETTING, "substeps", "efforts", "driven_joints", "addition", "open_loop"), acts_each_substep=False
)
CLAMPING = KindChecks(names=(*FORGETTING, "substeps", "effect"), carrier=actuator_with, acts_each_substep=False)
SENSOR = KindChecks(names=(*FORGETTING, "outputs", "readings", "observation"))
STAGE = KindChecks(names=(*FORGETTING, "readings", "effect", "observation"), carrier=sensor_with)
CONTROLLER = KindChecks(names=(*FORGETTING, "goals", "targets"))
MOTION = KindChecks(names=(*FORGETTING, "effect", "rates"), settings=_driven)
PLUGIN = KindChecks(names=FORGETTING)
VIEWER = KindChecks(names=(*SIMULATED, "observation", "folder", "frames"))
RECORDER = KindChecks(names=(*SIMULATED, "allocation", "observation", "folder", "rows"))
READER = KindChecks(names=(*CONFIGURED, "reading"))
_ADDED = (*CONFIGURED, "content", "place", "simulation")
IMPORTER = KindChecks(names=(*_ADDED, "options"), settings=_none, reads_file=True)
OBJECT = KindChecks(
    names=(*_ADDED, "copies"),
    settings=lambda config, given: {"label": LABEL},
    content=lambda table: {"objects": [table]},
)
TERRAIN = KindChecks(names=(*CONFIGURED, "ground", "stand"), settings=_none)
_TASK = {"task": {"autoreset": "disabled"}}
"""A task in which no world is reset but by the kit."""
QUANTITY = KindChecks(names=(*FORGETTING, "labels", "numbers", "observation"), tables=_TASK)
ACTION = KindChecks(names=(*FORGETTING, "effect", "labels", "actions"), tables=_TASK)
REWARD = KindChecks(names=(*FORGETTING, "numbers", "observation"), tables=_TASK)
TERMINATION = KindChecks(names=(*FORGETTING, "verdicts", "observation"), tables=_TASK)
EVENT = KindChecks(names=(*FORGETTING, "effect", "mask", "intervals"), tables=_TASK)
COMMAND = KindChecks(names=(*FORGETTING, "labels", "mask"), tables=_TASK)
CURRICULUM = KindChecks(
    names=(*STEPPED, "labels"), tables=_TASK
)  # it lasts longer than an episode: a reset forgets nothing
METRIC = KindChecks(names=(*FORGETTING, "numbers", "observation"), tables=_TASK)


def kind_checks(kind: Kind) -> KindChecks:
    """Return what the kit knows of a kind of plugins: what its record names, or what every configured plugin promises.

    Raises:
        PluginError: What the record names cannot be imported.
    """
    if kind.checks is None:
        return KindChecks(names=SIMULATED if kind.is_component else CONFIGURED)
    module, _, name = kind.checks.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise PluginError(f"kind {kind.name!r}: its checks, {kind.checks!r}, cannot be imported ({error})") from error
    if not isinstance(found, KindChecks):
        raise PluginError(f"kind {kind.name!r}: expected a KindChecks at {kind.checks!r}, got {found!r}")
    return found


def tables_of(kind: Kind, table: Table) -> dict[str, Any]:
    """Return the tables of a file that name a plugin, by the place of its kind; none for a place in a list."""
    if kind.place is None or "[]" in kind.place:
        return {}
    value: Any = table
    for key in reversed(kind.place.split(".")):
        value = {LABEL if key == "*" else key: value}
    return value


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return two tables in one; values of the second one replace those of the first."""
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result
