"""Write the reference pages that are generated from the code: `python docs/write_reference.py`.

`tests/docs/test_docs.py` fails if a page differs from the output of this script.
"""

from __future__ import annotations

import inspect
import json
import re
import runpy
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import click
from pippin import Simulation
from pippin.catalog.entries import PLURALS, Catalog, Kind
from pippin.cli import main as pippin_command
from pippin.components.bound import Bound
from pippin.config.fields import default_of, field_texts, fields_of
from pippin.config.schema import json_schema
from pippin.conformance import CHECKS, Conformance
from pippin.conformance.asks import ASKS, Ask, cell_of
from pippin.conformance.benches import BENCHES, UNTRIED
from pippin.conformance.kinds import CONFIGURED
from pippin.solving import FEATURES
from pippin.support.declaration import Declaration
from pippin.support.requirements import solvers_declaring
from pippin.views.quantities import ARTICULATION, RIGID_BODY, ViewQuantity
from pippin.views.rules import RULES

REFERENCE = Path(__file__).parent / "reference"
EXAMPLE = Path(__file__).parent / "examples" / "sensors.toml"
ROOT = Path(__file__).parents[1]
PHYSICS_CHECKS = Path(__file__).parents[1] / "tests" / "physics" / "checks.toml"

Schema = Mapping[str, Any]

CONFIGURATION = """\
# Configuration

<!-- Written by docs/write_reference.py from the configuration classes. Change those, then run it. -->

This page lists every table and key of a configuration file, with the plugins of this repository.
A file is TOML, YAML or JSON; the [examples](../examples) are TOML.
`pippin show FILE` prints a file with every default. `pippin schema` writes these tables as a JSON Schema for editors.

Values are not converted: `"3"`, `2.7` and `true` are not integers.
A key that is not listed here is an error, and so are NaN and infinity.
If a key has neither a default nor "required", you may leave it out; its meaning describes the effect.
Patterns are explained in the [glossary](glossary.md#label-pattern).

Besides the tables, a file may begin with `extends`, a list of base files. The file is merged over them:
tables are merged key by key, lists and scalars are replaced. A table whose `type` changes keeps its keys, and the new
type refuses those that it does not have. A table with `extends = false` replaces the table below it, with all keys.

Two environment variables act like the table `[catalog]`, for every file. `PIPPIN_CATALOG_BLOCK` contains the names of
blocked plugins or distributions, separated by commas; `PIPPIN_CATALOG_ALLOW` contains the only allowed ones.
[Find out what is wrong with a plugin](../how-to/debug-plugin.md#keep-a-plugin-out) has examples.
"""

CLI = """\
# Command line

<!-- Written by docs/write_reference.py from the commands' own help. Change that, then run it. -->
"""

SOLVERS = """\
# Solvers

<!-- Written by docs/write_reference.py from the plugins' declarations. Change those, then run it. -->

This page compares the solvers of this repository by their declarations and hooks.
[Configuration](configuration.md) lists their settings, and [physics checks](physics-checks.md) gives their accuracy
against formulas.

- **coordinates**: the coordinates that the solver writes; see
  [the attribute](hooks.md#attributes-of-a-component) of the same name
- **contacts**: from Newton's pipeline, which `[collision]` configures, or from the solver itself
- **captured**: when the steps are replayed from a graph; if they are not, `sim.program` gives the reason
- **same bits on**: the devices on which every run gives the same bits, as
  [`simulation.determinism`](../how-to/reproducible-runs.md) requires; this has not been tested on CUDA
- **observables**: the quantities of the solver that sensors can read

| solver | coordinates | contacts | captured | same bits on | observables |
|---|---|---|---|---|---|
"""

FEATURES_TABLE = """
## Supported features

If a scene uses a feature that the solver does not support, Pippin refuses the scene before it compiles anything.
`pippin check FILE` lists the unsupported features of a file for every solver, and `simulation.accept_unsupported`
accepts them: the solver then ignores them, and a note says so. If a cell names an option, the solver supports the
feature when the option is true. A scene uses a parameter if a value differs from the neutral one. For the properties of
contacts and limits, that is the value that Newton gives to shapes and joints by default. `pippin compare` accepts the
loss of parameters for the solvers that the file does not name, and shows what each one ignores.

"""

CHANGES_TABLE = """
## Model changes while running

You may write arrays of `sim.model` between steps, in some worlds or in all.
Then call `sim.notify_model_changed` with flags of `newton.ModelFlags` to notify the solver. Captured graphs stay valid.
A flag that the solver does not support is refused, because the change would have no effect.

"""

BUILDER = """
## Additions to a builder

A prototype built in Python needs [the same registrations](../how-to/robot-from-python.md) before you add anything to
it.

| solver | before assets | after replication |
|---|---|---|
"""

HONOURED = """\
# Honoured or refused

<!-- Written by docs/write_reference.py from the table of asks and the plugins' declarations. Change those, then run it.
-->

Nothing that you ask a running simulation for is ignored. Each call of this table **acts**, in the worlds that you
choose and nowhere else, or it is **refused**, with an error that names the solver and a cure. The table is made of the
solvers' declarations, and [the conformance kit](conformance.md) measures every cell. It does the same for a solver of
your own.

- **acts¹**: the solver gives the feature to a joint only while it is built. The call is refused at a joint that had
  none then. `settable_joints = true` in [`[scene]`](configuration.md) prepares every hinge, slider and joint of several
  axes.
- **refused²**: the call acts with this option of the solver.
- **refused³**: the solver does not move such bodies at all, and refuses the scene.

If you accept that a call or a part of the scene has no effect, because one program runs with several solvers, write the
name of the feature into `simulation.accept_unsupported`. `simulation.ignored_features` and a note then say what the
solver ignores of the scene.

"""

MEASURED = """
## Measurements

Each call is made in the last of three worlds, for a body of its own. The motion is that of the body in 0.1 s.

| call | feature or change | motion in the asked world | in the others |
|---|---|---|---|
"""

ELSEWHERE = """
## Other ways to ask

- The content of a scene is honoured as [the features of each solver](solvers.md#supported-features) say, which the
  checks `feature_*` measure, or refused when the simulation is built.
- Arrays of `sim.model` and gravity by world are honoured as [the model
  changes](solvers.md#model-changes-while-running) say, which the check `model_changes` measures, or refused at the
  call.
- Reports of the solver are honoured as [its observables](solvers.md) say, which the check `observables` measures, or
  refused when the simulation is built.
"""

SENSORS = """\
# Sensors

<!-- Written by docs/write_reference.py from the sensors of docs/examples/sensors.toml. Change those, then run it. -->

Each sensor has a page of its own. [Configuration](configuration.md) lists the settings, and
[use sensors](../how-to/use-sensors.md) explains the common parts: periods, noise, and how to read outputs.

A sensor that reads nothing from the solver works with every solver, and measures again at a reset. The outputs of the
other sensors are zero after a reset until the next step. They need certain observables: Pippin refuses a solver that
does not report them. An `imu` with `source = "finite-difference"` reads nothing.

| sensor | outputs | reads | solvers |
|---|---|---|---|
"""

OUTPUTS = """
## Outputs

This table lists the outputs in the [example](../examples/sensors.toml), a quadruped in front of steps, with two
worlds. The first number of a shape is the number of worlds. The second number is the number of matches of the sensor's
patterns in each world. The sensor's page explains the frame; `none` means that the output has no direction.

| sensor | output | unit | frame | shape in the example |
|---|---|---|---|---|
"""

PHYSICS = """\
# Physics checks

<!-- Written by docs/write_reference.py from tests/physics/checks.toml. Change that, then run it. -->

[The tests](../../tests/physics) compare each solver of this repository with formulas, on the CPU.
The tables give the tolerances of these tests: about twice the measured error, and more if the error is rounding.
[Solver by solver](#solver-by-solver) explains the sources of the errors; [solvers](solvers.md) lists other differences.

## Rigid bodies

All experiments are in [one scene](../../tests/physics/laboratory.toml): a tumbling top, two pendulums, two spheres,
boxes on plates and a tower of three boxes. The worlds differ only in gravity: vertical, tilted by θ with
tan θ = 0.35, and zero.

- **free fall**: v = g t and z = g t (t + h) / 2 after 0.5 s with substeps of h, relative
- **free top**: angular velocity of a free symmetric top by Euler's equations over 0.5 s, relative
- **small swing**: period of a pendulum from 0.05 rad, relative
- **large swing**: period from 2 rad, by the elliptic integral, relative
- **energy**: largest drift of the large swing's energy over the whole run, relative to the start
- **sticking**: creep speed of a box with μ = 0.6 under tilted gravity [m/s]
- **sliding**: acceleration of a box with μ = 0.2 under tilted gravity, against g (sin θ - μ cos θ), relative
- **momentum**: change of m₁ v₁ + m₂ v₂ through a head-on collision, relative to m₁ |v₁| + m₂ |v₂|
- **restitution**: speed of separation over speed of approach, against 0.5 or the value of the contact's springs
- **stack**: largest distance of a box of the tower from its place at the end [m]; for springs, the formula's
  compression is subtracted
- **rest**: kinetic energy of the tower, 12 kg, at the end [J]

"""

PARTICLES = """
## Cloth and grains

A stretched cloth, a net (`xpbd`) or a block of grains (`implicit-mpm`) flies for 0.2 s. The errors are relative: of
the fall of its centre of mass against the formula, and of its horizontal momentum, which is conserved. The other
solvers do not move particles.

"""

VERDICTS = """
## Solver by solver
"""

VIEWS = """\
# Views

<!-- Written by docs/write_reference.py from the tables of quantities. Change those, then run it. -->

`simulation.view.articulations(pattern)` and `rigid_bodies(pattern)` return views. A view has a method `get_NAME` for
each row of its table, and a method `set_NAME` if the last column is not empty.
[Views](../how-to/views.md) shows how to use them, and explains `contacts(sensors, filters)`.

- **shape**: N rows; D DOFs, C coordinates and L links of the row with the most; G generalized DOFs: the six of a free
  root, if any row has one, then the D others. Shorter rows are padded with 0.
- **array**: the array that holds the numbers, in the state, the inputs (`control`) or the `model`, or among the
  [observables](glossary.md#observable) of the solver; request an observable with `simulation.observables`.
- **values**: what can be set. Any other value is an error that names it, and is not written.
- **when it is set**: `●` means that setting has no other effect. Flags of `newton.ModelFlags` are sent to the solver
  once, before the next step; a solver that does not support them
  [refuses the change](solvers.md#model-changes-while-running). "bodies" are computed from joints once, before the next
  step or read, for the changed articulations.

Numbers are float32. Poses and velocities are in the world frame; all worlds have the same origin.
"""

CONTACTS = """
## Contacts

`contacts(sensors, filters, max_contact_data=K)` reads the observable `contact_f` for S sensors, which are bodies, with
up to F filters each. K rows hold single contacts. [Read contact forces](../how-to/contact-forces.md) has examples.
Forces act on the sensor, in the last substep. With an argument `dt`, they are multiplied by the length of a physics
step and divided by `dt`.

| method | field | meaning | unit | shape |
|---|---|---|---|---|
| `net_forces` |  | sum of all forces on the sensor, in the world | N | (S, 3) |
| `force_matrix` |  | force of each filter on the sensor, in the world | N | (S, F, 3) |
| `contact_data` | `forces` | normal force; positive pushes the sensor away | N | (K) |
| `contact_data` | `points` | midpoint between the surfaces, in the world | m | (K, 3) |
| `contact_data` | `normals` | unit vector towards the sensor, in the world | 1 | (K, 3) |
| `contact_data` | `separations` | distance of the surfaces, negative if they penetrate | m | (K) |
| `contact_data` | `counts` | number of contacts of each pair, including those without a row | 1 | (S, F) |
| `contact_data` | `starts` | first row of each pair | 1 | (S, F) |
| `contact_data` | `overflow` | number of rows needed, if there were too few, else 0 | 1 | (1) |
| `raw_contact_data` | `forces` | as above, of all contacts | N | (K) |
| `raw_contact_data` | `points` | as above | m | (K, 3) |
| `raw_contact_data` | `normals` | as above | 1 | (K, 3) |
| `raw_contact_data` | `separations` | as above | m | (K) |
| `raw_contact_data` | `counts` | number of contacts of each sensor | 1 | (S) |
| `raw_contact_data` | `starts` | first row of each sensor | 1 | (S) |
| `raw_contact_data` | `overflow` | as above | 1 | (1) |
| `raw_contact_data` | `other_bodies` | body that exerts the force, -1 if it is static | 1 | (K) |
| `raw_contact_data` | `other_shapes` | shape that exerts the force, -1 in unused rows | 1 | (K) |
| `friction_data` | `forces` | tangential force on the sensor, in the world | N | (K, 3) |
| `friction_data` | `points` | as above | m | (K, 3) |
| `friction_data` | `counts` | number of contacts of each pair; without filters, of each sensor | 1 | (S, F) |
| `friction_data` | `starts` | first row of each pair; without filters, of each sensor | 1 | (S, F) |
| `friction_data` | `overflow` | as above | 1 | (1) |
"""

CONFORMANCE = """\
# Conformance

<!-- Written by docs/write_reference.py from the checks and the plugins' own tests. Change those, then run it. -->

This page lists the promises of every plugin. [`pippin check-plugin`](cli.md#pippin-check-plugin) checks them, and
[test a plugin](../how-to/test-a-plugin.md) shows how to run the checks in your own tests.
All solvers, actuators, sensors, viewers and recorders of this repository pass all checks of their kind, with [these
exceptions](#exceptions). The checks `ask_*` of solvers have [a page of their own](honoured.md).

Simulations run on the CPU, in three worlds, with hinged links and a ball on the ground. A clamping is tested in an
actuator of the kit, a stage in a sensor, and a term in a task without automatic resets. Free bodies, pendulums and
mechanisms are checked in scenes of their own. "The same" means bitwise the same, unless a tolerance is given.
"""

FEATURE_CHECKS = """
## Features

Each feature in a solver's `supported_features` is checked on a small mechanism, which moves for 0.1 s.

| check | measured motion | allowed range |
|---|---|---|
"""

EXCEPTIONS = """
## Exceptions

| plugin | check | why it fails |
|---|---|---|
"""

SETTINGS = """
## Settings

Plugins are checked with their defaults, in substeps of 2 ms. This table lists the settings of plugins that need more.

| plugin | settings |
|---|---|
"""

ATTRIBUTES_BEFORE = """
The host reads these once, when the component is registered, before anything is built:

"""

ATTRIBUTES_AFTER = """
It reads these after `bind`, whenever it needs them, so that a component may decide in `bind`:

"""

ATTRIBUTE_COLUMNS = "| attribute | components | default | meaning |\n|---|---|---|---|\n"

TASKS = """\
# Tasks

<!-- Written by docs/write_reference.py from the plugins of the six kinds of terms. Change those, then run it. -->

A `[task]` table makes a simulation an environment to learn in. Everything in it is a term, and each term is a plugin of
one of six kinds. [Configuration](configuration.md#task) lists the keys of `[task]` itself.

- a [quantity](#quantities) is measured: numbers of each world
- an [observation](#observations) is a quantity, with noise, bounds and history
- an [action](#actions) sets targets or efforts from the numbers of a policy
- a [reward](#rewards) is a law over a quantity or a sensor, with a weight
- a [termination](#terminations) ends the episode of a world
- an [event](#events) changes a world at random, and a [command](#commands) is a target drawn at random

```toml
extends = ["docs/examples/ant.toml"]

[scene]
worlds = 4

[task]
episode_length = 10.0         # [s]

[task.actions]
legs = { type = "joint-targets", actuator = "legs", scale = 0.5, clip = [-1.0, 1.0] }

[task.observations.policy]
height = { of = "root-height" }
velocity = { of = { type = "root-linear-velocity", frame = "body" }, noise = 0.1 }
gravity = { of = "projected-gravity" }
positions = { of = { type = "joint-positions", relative = true } }
velocities = { of = "joint-velocities", scale = 0.05 }
action = { of = "last-action" }

[task.rewards]
forward = { type = "value", of = "displacement-rate", axes = "x", weight = 1.0 }
upright = { type = "l2", of = "projected-gravity", axes = "xy", weight = -1.0 }
effort = { type = "l2", of = "joint-efforts", weight = -1e-4 }
limits = { type = "outside", of = "joint-positions", soft_limits = 0.9, weight = -1.0 }
steps = { type = "air-time", sensor = "feet", threshold = 0.3, weight = 0.5 }

[task.terminations]
fallen = { type = "outside", of = "root-height", low = 0.2, high = 1.0 }
```

A key `of` chooses a quantity by its name, or by a table with its `type` and its keys. Equal choices are measured once.
`axes` chooses columns of a vector. A weight of 0 leaves a reward out.

A term of type `function` is a function of yours, in a module that Python finds. It launches kernels, and writes `out`:

```python
import warp as wp


@wp.kernel
def largest_speed(qd: wp.array[float], per_world: int, above: float, out: wp.array[float]):
    world = wp.tid()
    speed = float(0.0)
    for i in range(per_world):
        speed = wp.max(speed, wp.abs(qd[world * per_world + i]))
    out[world] = wp.max(speed - above, 0.0)


def too_fast(place, out, above):
    state = place.simulation.state
    inputs = [state.joint_qd, len(state.joint_qd) // place.world_count, above, out]
    wp.launch(largest_speed, place.world_count, inputs, device=out.device)
```

With `fast = { type = "function", function = "my_task:too_fast", parameters = { above = 10.0 }, weight = -0.1 }` it is a
reward. It is called while the step is recorded, and its kernels run in every step. If it reads arrays on the host, it
must not be recorded: `is_capturable = false` says so, and Pippin finds it otherwise. Then the task runs eagerly, and
`print(simulation.program)` gives the reason. [Your first term](../tutorials/first-term.md) makes a package of such a
term, and [four terms of a package](../../tests/outside/pippin-balance-terms) show memory and random draws.
"""

TASK_SIGNS = """
q and qd are positions and velocities of joints, q_0 the initial positions, t efforts; R, p, v and w are rotation,
position, velocity of the centre of mass, and angular velocity of a body, in the world; a and a' are the action and the
one before; g is gravity. Quaternions are x, y, z, w if nothing else is said. Rates count from the start of the episode
in its first step, and are zero right after a reset.

MuJoCo's free joint has the velocity of the body's origin in the world, its angular velocity in the body, and w first:
take `root-linear-velocity` with `point = "origin"`, `root-angular-velocity` with `frame = "body"`, and
`root-orientation` with `order = "wxyz"` and `unique = false`.
"""

TASK_KINDS = {
    "quantity": "Numbers of each world, measured at the end of each control step, and again after a reset.",
    "action": "Numbers of the action, side by side in the order of `[task.actions]`.",
    "reward": "x stands for the numbers of the quantity `of`, minus the `target`.",
    "termination": "Besides these, an episode ends by `task.episode_length`, and if the state of its world diverges.",
    "event": "Random changes, drawn for each world; changes of the model start from the values that it was built with.",
    "command": "Targets for each world, drawn at each reset and from time to time.",
}
"""First sentence of the section of each kind of terms."""

TASK_ELSEWHERE = """
## Names elsewhere

| Isaac Lab | here |
|---|---|
| `lin_vel_z_l2`, `ang_vel_xy_l2` | `l2` of `root-linear-velocity`, `root-angular-velocity` in the body, with `axes` |
| `flat_orientation_l2` | `l2` of `projected-gravity` with `axes = "xy"` |
| `base_height_l2` | `l2` of `root-height` with a `target` |
| `joint_torques_l2`, `joint_vel_l1`, `joint_vel_l2`, `joint_acc_l2` | `l1` or `l2` of `joint-efforts` and so on |
| `joint_deviation_l1` | `l1` of `joint-positions` with `relative = true` |
| `joint_pos_target_l2` | `l2` of `joint-positions` with `target` and `wrap = true` |
| `joint_pos_limits` | `outside` of `joint-positions` with `soft_limits` |
| `action_l2`, `action_rate_l2` | `l2` of `last-action`, `action-rate` |
| `track_lin_vel_xy_exp`, `track_ang_vel_z_exp` | `exp` with a command as `target`, and `axes` |
| `feet_air_time`, `feet_slide`, `undesired_contacts` | `air-time`, `slip`, `contacts` |
| `is_alive`, `is_terminated` | `alive`, `terminated` |
| `root_height_below_minimum`, `joint_pos_out_of_manual_limit` | `outside` of `root-height`, of `joint-positions` |
| `bad_orientation` | `outside` of `projected-gravity` with `axes = "z"`, and `high` = -cos of the limit |
| `illegal_contact` | `contact` |
"""

PUBLIC_NAMES = """\
# Public names

<!-- Written by docs/write_reference.py from the docstrings of public modules. Change those, then run it. -->

These names keep their meaning within a [contract version](contract-version.md). Every name has one path, and a plugin
imports nothing else of Pippin; `pippin.views` and `pippin.isaac` are for users, not for plugins. The
[documentation site](../how-to/build-the-site.md) has an entry for each, with arguments, members and errors.
"""

MODEL_CHANGES = {
    "MODEL_PROPERTIES": "gravity, of each world",
    "BODY_INERTIAL_PROPERTIES": "masses, inertias, centres of mass",
    "BODY_PROPERTIES": "switching bodies between kinematic and dynamic",
    "JOINT_PROPERTIES": "frames and axes of joints",
    "JOINT_DOF_PROPERTIES": "all of the following three that the solver supports",
    "JOINT_DOF_FORCE_PROPERTIES": "gains, limits, damping, friction and stiffness of joints",
    "JOINT_DOF_INERTIAL_PROPERTIES": "armature",
    "JOINT_REFERENCE_POSE_PROPERTIES": "rest positions of the springs of joints and rods",
    "SHAPE_PROPERTIES": "friction, stiffness, pose and size of shapes",
    "SHAPE_TYPE_AND_SOURCE": "type and geometry of shapes",
    "CONSTRAINT_PROPERTIES": "mimic joints and equality constraints",
    "TENDON_PROPERTIES": "tendons",
    "ACTUATOR_PROPERTIES": "MuJoCo's actuators",
}
"""Meanings of the flags of `newton.ModelFlags`."""

BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def configuration_page() -> str:
    """Return the page of every table and key, from the JSON Schema of all installed plugins."""
    schema, problems = json_schema(Catalog.installed())
    if problems:
        raise RuntimeError("\n".join(problems))
    tables = {key: value for key, value in schema["properties"].items() if key not in ("$schema", "extends")}
    sections = [part for key, value in tables.items() for part in _sections(key, value, _demanded(schema["then"], key))]
    page = "\n".join([CONFIGURATION, *sections]).rstrip() + "\n"
    # Sections that several plugins share appear once.
    return "\n## ".join(dict.fromkeys(part.rstrip("\n") + "\n" for part in page.split("\n## ")))


def cli_page() -> str:
    """Return the help of `pippin` and of each of its commands."""
    group = click.Context(pippin_command, info_name="pippin", **pippin_command.context_settings)
    page = CLI + _help("pippin", pippin_command, None)
    for name in pippin_command.list_commands(group):
        command = pippin_command.get_command(group, name)
        assert command is not None, "listed"
        page += _help(name, command, group)
    return page


def solvers_page() -> str:
    """Return the tables of the declarations and hooks of every installed solver."""
    catalog = Catalog.installed()
    solvers = {name: catalog.find("solver", name).load() for name in catalog.names("solver")}
    declared = [_cells(name, *_declarations(plugin)) for name, plugin in solvers.items()]
    prepared = [
        _cells(name, *(_summary(getattr(plugin, hook, None)) for hook in ("configure_builder", "complete_builder")))
        for name, plugin in solvers.items()
    ]
    return "".join(
        [
            *(SOLVERS, *declared),
            *(FEATURES_TABLE, _feature_table(solvers)),
            *(CHANGES_TABLE, _changes_table(solvers)),
            *(BUILDER, *prepared),
        ]
    )


def sensors_page() -> str:
    """Return the observables that each sensor reads, and the outputs of the sensors in the example."""
    catalog = Catalog.installed()
    overrides = {"scene.worlds": 2, "simulation.device": "cpu"}
    with Simulation.from_file(EXAMPLE, overrides) as simulation:
        types = {label: choice.type for label, choice in simulation.config.sensors.items()}
        sensors = sorted((types[label], sensor) for label, sensor in simulation.sensors.items())
    outputs = [
        _cells(name, f"`{output}`", each.unit, f"`{each.frame}`", ", ".join(map(str, each.shape)))
        for name, sensor in sensors
        for output, each in sensor.outputs.items()
    ]
    return "".join([SENSORS, *(_needs(name, sensor, catalog) for name, sensor in sensors), OUTPUTS, *outputs])


def _needs(name: str, sensor: Any, catalog: Catalog) -> str:
    """Return the row of a sensor: its outputs, the observables that it reads, and the solvers that report them."""
    kinds = sorted(sensor.observables)
    able = [solver for kind in kinds for solver in solvers_declaring("supported_observables", kind, catalog)]
    reads = ", ".join(f"`{kind}`" for kind in kinds) or "nothing"
    solvers = ", ".join(f"`{solver}`" for solver in able) or "all"
    return _row_of_solvers(f"[`{name}`](sensors/{name}.md)", (_summary(type(sensor)), reads, solvers))


def honoured_page() -> str:
    """Return the table of what each solver honours of all that a user can ask a running simulation for."""
    catalog = Catalog.installed()
    solvers = {name: catalog.find("solver", name).load() for name in catalog.names("solver")}
    declared = {name: Declaration.of(plugin, "solver") for name, plugin in solvers.items()}
    lines = [_row_of_solvers("call", (f"`{name}`" for name in solvers)), "|---" * (len(solvers) + 1) + "|\n"]
    lines += [
        _row_of_solvers(_call(ask), (_verdict_of(ask, each) for each in declared.values())) for ask in ASKS.values()
    ]
    return "".join([HONOURED, *lines, MEASURED, *map(_motion, ASKS.values()), ELSEWHERE])


def _call(ask: Ask) -> str:
    return f"`{f'{ask.name} {ask.attribute}'.strip()}`"


def _verdict_of(ask: Ask, declared: Declaration) -> str:
    cell = cell_of(ask, declared)
    if cell.is_honoured:
        return "acts¹" if cell.is_fixed else "acts"
    if cell.lacks in ask.of_body:
        return "refused³"
    return f"refused² `{cell.option}`" if cell.option else "refused"


def _motion(ask: Ask) -> str:
    needs = ", ".join(f"`{name}`" for name in (ask.feature, *ask.flags) if name) or "none"
    acting, idle = (f"{least:.3g} to {most:.3g}" for least, most in (ask.acting, ask.idle))
    return _cells(f"{_call(ask)[1:-1]}", needs, f"{ask.expectation}: {acting}", idle)


def _changes_table(solvers: Mapping[str, Any]) -> str:
    """Return the table of the model changes that each solver declares as supported."""
    lines = [_row_of_solvers("flag", (f"`{name}`" for name in solvers)), "|---" * (len(solvers) + 1) + "|\n"]
    for flag, meaning in MODEL_CHANGES.items():
        marks = ("●" if flag in plugin.supported_model_changes else "" for plugin in solvers.values())
        lines.append(_row_of_solvers(f"`{flag}`: {meaning}", marks))
    return "".join(lines)


def _row_of_solvers(first: str, cells: Iterable[str]) -> str:
    return "| " + " | ".join([first, *cells]) + " |\n"


def _feature_table(solvers: Mapping[str, Any]) -> str:
    """Return the table of the features that each solver declares, with the options that switch some of them on."""
    lines = ["| feature | " + " | ".join(f"`{name}`" for name in solvers) + " |\n", "|---" * (len(solvers) + 1) + "|\n"]
    for is_structural in (True, False):
        chosen = {name: feature for name, feature in FEATURES.items() if feature.is_structural is is_structural}
        for name, feature in chosen.items():
            marks = [_mark(plugin, name) for plugin in solvers.values()]
            lines.append(f"| `{name}`: {feature.meaning} | " + " | ".join(marks) + " |\n")
        if is_structural:
            lines.append("| **parameters** |" + " |" * len(solvers) + "\n")
    return "".join(lines)


def _mark(plugin: Any, feature: str) -> str:
    declared = Declaration.of(plugin, "solver")
    option = declared.optional_features.get(feature)
    return "●" if feature in (declared.supported_features or ()) else f"`{option}`" if option else ""


def physics_page() -> str:
    """Return the tolerances of the physics checks with their reasons, and the uses of each solver."""
    rows = tomllib.loads(PHYSICS_CHECKS.read_text(encoding="utf-8"))
    verdicts = "".join(_verdict(name, row) for name, row in rows.items())
    return PHYSICS + _tolerances(rows, "checks") + PARTICLES + _tolerances(rows, "particles") + VERDICTS + verdicts


def conformance_page() -> str:
    """Return the promises that the checks test, and the known failures of this repository's plugins."""
    of_features = [check for check in CHECKS if check.name.startswith("feature_")]
    plain = [check for check in CHECKS if not check.name.startswith(("feature_", "ask_"))]
    rows = [f"| `{check.name}` | {_kinds(check.kinds)} | {check.promise} |\n" for check in plain]
    features = [_feature_row(check.name) for check in of_features]
    untried = [f"- `{name}`: {reason}\n" for name, reason in UNTRIED.items()]
    declared = conformances()
    exceptions = [
        f"| `{each.subject.name}` | `{check}` | {reason} |\n"
        for each in declared
        for check, reason in each.expected_failures.items()
    ]
    settings = [f"| `{each.subject.name}` | {text} |\n" for each in declared if (text := _settings(each))]
    table = "\n## Checks\n\n| check | of | promise |\n|---|---|---|\n" + "".join(rows)
    others = "\nThese features have no mechanism:\n\n" + "".join(untried)
    return "".join(
        [CONFORMANCE, table, FEATURE_CHECKS, *features, others, EXCEPTIONS, *exceptions, SETTINGS, *settings]
    )


def _kinds(kinds: Sequence[str]) -> str:
    """Return the kinds of a check in words: many of them by what they have in common."""
    if missing := [kind for kind in CONFIGURED if kind not in kinds]:
        if len(missing) <= 2:
            return f"all but {' and '.join(missing)}"
        terms = ["terms"] if set(TASK_KINDS) <= set(kinds) else []
        return ", ".join([*(kind for kind in kinds if not terms or kind not in TASK_KINDS), *terms])
    return "all"


def _feature_row(check: str) -> str:
    bench = BENCHES[check.removeprefix("feature_")]
    return f"| `{check}` | {bench.expectation} | {bench.least:.3g} to {bench.most:.3g} |\n"


def conformances() -> list[Conformance]:
    """Return the `Conformance` in the tests of every plugin, in the order of the catalog."""
    files = [
        path for folder in ("solvers", "actuators", "sensors") for path in ROOT.glob(f"{folder}/*/tests/test_*.py")
    ]
    found = [run["CONFORMANCE"] for run in map(runpy.run_path, map(str, files)) if "CONFORMANCE" in run]
    found += runpy.run_path(str(ROOT / "tests" / "conformance" / "test_observer_checks.py"))["CONFORMANCES"]
    order = [(entry.kind, entry.name) for entry in Catalog.installed().entries]
    return sorted(found, key=lambda each: order.index((each.subject.kind, each.subject.name)))


def _settings(conformance: Conformance) -> str:
    """Return the settings of a plugin's checks that differ from the defaults."""
    subject = conformance.subject
    parts = [f"`{key} = {_inline(value)}`" for key, value in subject.config.items() if key != "model"]
    if subject.dt != 0.002:
        parts.append(f"substeps of {1000 * subject.dt:g} ms")
    if subject.prototype is not None:
        parts.append(f"its own scene: {_summary(subject.prototype)}")
    return ", ".join(parts)


def _tolerances(rows: Mapping[str, Any], kind: str) -> str:
    """Return the table of the tolerances for rigid bodies or particles."""
    cells = {name: row[kind] for name, row in rows.items() if kind in row}
    checks = [check.replace("_", " ") for check in next(iter(cells.values()))]
    head = "| " + " | ".join(["solver", *checks]) + " |\n" + "|---" * (len(checks) + 1) + "|\n"
    return head + "".join(
        _cells(name, *(f"{cell['tolerance']:g}" for cell in row.values())) for name, row in cells.items()
    )


def _verdict(name: str, row: Mapping[str, Any]) -> str:
    """Return the uses of a solver, the options of its run, and the sources of its errors."""
    options = [f"`{key} = {_inline(value)}`" for key, value in row.get("options", {}).items()]
    run = f"Run with {', '.join(options)}." if options else "Run with the default options."
    if "checks" in row:
        substeps = row.get("substeps", 1)
        split = f" in {substeps} substeps" if substeps > 1 else ""
        run = f"{run[:-1]}, in steps of {1000 * row['dt']:g} ms{split}, for {row['duration']:g} s."
    cells = dict(row.get("checks", {}))
    cells |= {f"{check} of particles": cell for check, cell in row.get("particles", {}).items()}
    reasons = [f"- {check.replace('_', ' ')}: {cell['why']}\n" for check, cell in cells.items() if "why" in cell]
    return f"\n### `{name}`\n\nGood for {row['good_for']}\n\n{run}\n" + ("\n" + "".join(reasons) if reasons else "")


def _inline(value: Any) -> str:
    """Return an option in TOML syntax."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value)


def _declarations(plugin: Any) -> Iterator[str]:
    declared = Declaration.of(plugin, "solver")
    yield f"`{declared.coordinates}`"
    yield _contacts(getattr(plugin, "initialize_contacts", None))
    is_capturable = vars(plugin).get("is_capturable", Bound(object(), "default").is_capturable)
    if isinstance(is_capturable, property):
        condition = _summary(is_capturable)
        yield condition[:1].lower() + condition[1:]
    else:
        yield "always" if is_capturable else "never"
    yield ", ".join(f"`{kind}`" for kind in sorted(declared.deterministic_on))
    yield ", ".join(f"`{kind}`" for kind in sorted(declared.supported_observables or ()))


def _contacts(hook: Any) -> str:
    """Return the source of contacts, from the return type of the hook; None leaves them to the host."""
    if hook is None:
        return "Newton's"
    returned = inspect.signature(hook).return_annotation
    return "its own, or Newton's" if "None" in returned else "its own"


def _summary(documented: Any) -> str:
    """Return the first paragraph of a docstring, without its full stop."""
    text = inspect.getdoc(documented) if documented is not None else None
    return " ".join((text or "").partition("\n\n")[0].split()).rstrip(".")


def _cells(name: str, *texts: str) -> str:
    return "| " + " | ".join([f"`{name}`", *texts]) + " |\n"


def _help(name: str, command: click.Command, parent: click.Context | None) -> str:
    context = click.Context(command, parent, info_name=name, terminal_width=100, **command.context_settings)
    return f"\n## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"


def _sections(path: str, value: Schema, demands: Schema) -> Iterator[str]:
    """Yield the section of the tables at a path, then those of the tables inside them."""
    if value.get("type") == "array" and "allOf" in value["items"]:
        yield from _plugins(f"[{path}]", value["items"], {})
    elif value.get("type") == "array":
        yield from _table(f"[[{path}]]", value["items"], {}, lead=value.get("description"))
    elif "allOf" in value:
        yield from _plugins(path, value, demands)
    elif "properties" in value:
        yield from _table(f"[{path}]", value, demands)
    else:
        yield from _sections(f"{path}.LABEL", value["additionalProperties"], demands.get("additionalProperties", {}))


def _plugins(path: str, value: Schema, demands: Schema) -> Iterator[str]:
    """Yield one section for each plugin that a table may choose."""
    required = {case["if"]["properties"]["type"]["enum"][0]: case["then"] for case in demands.get("allOf", ())}
    plugins = [case["then"] for case in value["allOf"] if "title" in case["then"]]
    for table in plugins:
        yield from _table(f"[{path}]", table, required.get(table["title"], {}), plugin=table["title"])
    if not plugins:
        yield f"## `[{path}]`\n\nPlugins of other packages. This repository has none.\n"


def _table(
    path: str, table: Schema, demands: Schema, lead: str | None = None, plugin: str | None = None
) -> Iterator[str]:
    texts = [text for text in (lead, table.get("description")) if text]
    title = f"`{path}` with type `{plugin}`" if plugin else f"`{path}`"
    yield f"## {title}\n\n{' '.join(texts)}\n"
    keys = {key: value for key, value in table["properties"].items() if not (plugin and key in ("type", "extends"))}
    required = {*table.get("required", ()), *demands.get("required", ())}
    rows = [_row(key, value, key in required) for key, value in keys.items() if not _opens_tables(value)]
    if rows:
        yield "| key | type | unit | default | meaning |\n|---|---|---|---|---|"
        yield "\n".join(rows) + "\n"
    for key, value in keys.items():
        if _opens_tables(value):
            yield from _sections(f"{path.strip('[]')}.{key}", value, _demanded(demands, key))


def _opens_tables(value: Schema) -> bool:
    """Return whether a key holds tables with keys of their own."""
    held = value["items"] if value.get("type") == "array" else value
    return "properties" in held or "allOf" in held


def _demanded(demands: Schema, key: str) -> Schema:
    return demands.get("properties", {}).get(key, {})


def _row(key: str, value: Schema, is_required: bool) -> str:
    meaning, unit = _split_unit(value.get("description", ""))
    default = "required" if is_required else f"`{_toml(value['default'])}`" if "default" in value else ""
    condition = value.get("$comment", "")
    needs = f" {condition[:1].upper()}{condition[1:]}." if condition else ""
    return f"| `{key}` | {_type(value)} | {unit} | {default} | {meaning}{needs} |"


def _split_unit(text: str) -> tuple[str, str]:
    """Return a description without its first unit in brackets, and this unit."""
    found = re.search(r" \[([^\]`]+)\]", text)
    return (text[: found.start()] + text[found.end() :], found[1]) if found else (text, "")


def _type(value: Schema) -> str:
    bounds = [f"{sign} {_toml(value[word])}" for word, sign in BOUNDS.items() if word in value]
    if _is_term(value):
        return "[term](tasks.md)"
    if "anyOf" in value:
        return " or ".join(" ".join([_type(choice), *bounds]) for choice in value["anyOf"])
    if "enum" in value:
        return " or ".join(f"`{_toml(choice)}`" for choice in value["enum"])
    if value.get("type") == "array":
        count = value["minItems"] if value.get("minItems") == value.get("maxItems", -1) else "list of"
        return f"{count} {_plural(_type(value['items']))}"
    if value.get("type") == "object" and "properties" in value:
        return "`{ " + ", ".join(f"{key} = …" for key in value["properties"]) + " }`"
    if value.get("type") == "object" and _is_term(value["additionalProperties"]):
        return "table of [terms](tasks.md)"
    if value.get("type") == "object" and _repeats_its_neighbours(value["additionalProperties"]):
        return "table of these"
    if value.get("type") == "object":
        return f"table of {_plural(_type(value['additionalProperties']))}"
    return " ".join([value.get("type", "any"), *bounds])


def _is_term(value: Schema) -> bool:
    """Return whether a value is a plugin with its keys, or the name of one."""
    return "allOf" in value or any("allOf" in choice for choice in value.get("anyOf", ()))


def _plural(kind: str) -> str:
    """Return the plural of a type's name; bounds and names stay unchanged."""
    return re.sub(r"^(boolean|integer|number|string|table)\b", r"\1s", kind)


def _repeats_its_neighbours(values: Schema) -> bool:
    """Return whether a table's values have the same types as the table itself: a number or a table of bounds."""
    return any("properties" in choice for choice in values.get("anyOf", ()))


def _toml(value: Any) -> str:
    """Return a value in TOML syntax; scalars and lists are the same in JSON."""
    number = f"{value:g}" if isinstance(value, float) else None
    return number or json.dumps(value, ensure_ascii=False)


def views_page() -> str:
    """Return the tables of quantities of the views."""
    tables = {"Articulations": ARTICULATION, "Rigid bodies": RIGID_BODY}
    quantities = "".join(
        f"\n## {title}\n\n| name | unit | shape | array | frame | values | when it is set |\n"
        + "|---|---|---|---|---|---|---|\n"
        + "".join(_quantity(quantity) for quantity in table.values())
        for title, table in tables.items()
    )
    return VIEWS + quantities + CONTACTS


def _quantity(quantity: ViewQuantity) -> str:
    columns = {"dof": "D", "coordinate": "C", "link": "L", "generalized": "G"}.get(quantity.element)
    shape = ["N", *([columns] if columns else []), *([str(quantity.components)] if quantity.components > 1 else [])]
    if quantity.source == "computed" and quantity.name in ("jacobians", "mass_matrices"):
        shape.append("G")
    where = {"observable": "observables", "computed": ""}.get(quantity.source, quantity.source)
    arrays = ", ".join(f"`{where}.{array}`" for array in quantity.arrays) or "computed"
    follows = [f"`{flag}`" for flag in quantity.flags] + (["bodies"] if quantity.invalidates else [])
    effect = (", ".join(follows) or "●") if quantity.is_settable else ""
    values = RULES[quantity.valid].expected if quantity.is_settable else ""
    texts = [quantity.unit, f"({', '.join(shape)})", arrays, quantity.frame, values, effect]
    return f"| `{quantity.name}`: {quantity.meaning} | " + " | ".join(texts) + " |\n"


def hooks_page() -> str:
    """Return the page of hooks with the tables of attributes; the rest of the page is written by hand."""
    page = (REFERENCE / "hooks.md").read_text(encoding="utf-8")
    begin, end = "<!-- attributes -->\n", "<!-- end of attributes -->"
    texts = field_texts(Declaration)
    early = [_attribute(field.name, texts[field.name], default_of(field)) for field in attrs.fields(Declaration)]
    nothing = Bound(object(), "nothing")
    late = []
    for name in Bound.names():
        default = getattr(nothing, name)
        text = " ".join((inspect.getdoc(inspect.getattr_static(Bound, name)) or "").split())
        late.append(_attribute(name, text, "" if callable(default) else default))
    tables = "".join([ATTRIBUTES_BEFORE, ATTRIBUTE_COLUMNS, *early, ATTRIBUTES_AFTER, ATTRIBUTE_COLUMNS, *late])
    page = page.partition(begin)[0] + begin + tables + end + page.partition(end)[2]
    installed = Catalog.installed().entries
    plugins = [(entry.name, entry.load()) for entry in installed if entry.kind != "subcommand"]
    return "".join(_with_users(section, plugins) for section in re.split(r"(?m)^(?=### )", page))


def _with_users(section: str, plugins: Iterable[tuple[str, type]]) -> str:
    """Return the section of a hook with the plugins that implement it; other sections stay unchanged."""
    hook = re.match(r"### `(\w+)\(", section)
    if hook is None:
        return section
    users = [name for name, plugin in plugins if hasattr(getattr(plugin, hook[1], None), "pippin_impl")]
    told = f"Used by: {', '.join(users) or 'none of this repository'}."
    return re.sub(r"(?m)^Used by: .*?\.$", told, section, count=1)


def _attribute(name: str, text: str, default: Any) -> str:
    """Return a row; its text begins with the kind of component if only this kind may have the attribute."""
    kind, colon, meaning = text.partition(": ")
    who, meaning = (kind.lower(), meaning) if colon and kind.endswith("s") and kind.isalpha() else ("any", text)
    values = sorted(default) if isinstance(default, frozenset) else [default]
    shown = ", ".join(f"`{value!r}`" for value in values if value not in (None, "", (), {}))
    return f"| `{name}` | {who} | {shown} | {meaning[:1].upper()}{meaning[1:]} |\n"


def public_names_page() -> str:
    """Return the table of public names, module by module."""
    public = runpy.run_path(str(Path(__file__).with_name("public_names.py")))
    parts = [PUBLIC_NAMES]
    for module in (*public["FOR_PLUGINS"], *public["FOR_USERS"]):
        parts.append(f"\n## `{module}`\n\n| name | meaning |\n|---|---|\n")
        for name in public["names_of"](module):
            first = " ".join((public["text_of"](module, name) or "").partition("\n\n")[0].split())
            parts.append(_cells(name, first))
    return "".join(parts)


def tasks_page() -> str:
    """Return the tables of terms, by kind, and of their keys."""
    tables = json_schema(Catalog.installed())[0]["properties"]["task"]["properties"]
    observation = tables["observations"]["additionalProperties"]["additionalProperties"]
    schemas = {kind: tables[PLURALS[kind]]["additionalProperties"] for kind in TASK_KINDS if kind != "quantity"}
    schemas["quantity"] = observation["properties"]["of"]["anyOf"][1]
    parts = [TASKS]
    for kind, lead in TASK_KINDS.items():
        parts.append(f"\n## {PLURALS[kind].capitalize()}\n\n{lead}\n")
        parts.append(TASK_SIGNS if kind == "quantity" else "")
        parts.append(_terms(kind, schemas[kind]))
        if kind == "quantity":
            rows = [_row(key, value, key == "of") + "\n" for key, value in observation["properties"].items()]
            head = (
                "\n## Observations\n\n" + observation["description"] + "\n\n| key | type | unit | default | meaning |\n"
            )
            parts += [head, "|---|---|---|---|---|\n", *rows]
    return "".join([*parts, TASK_ELSEWHERE])


def _terms(kind: Kind, schema: Schema) -> str:
    """Return the table of the terms of a kind, and that of their keys: terms with a key of one meaning share a row."""
    entries = [each for each in Catalog.installed().entries if each.kind == kind]
    terms: dict[str, Any] = {each.name: each.load() for each in entries}
    configs = {each.name: each.load_config() for each in entries}
    if not terms:
        return "\nPlugins of other packages. This repository has none.\n"
    has_unit = kind == "quantity"
    head = "\n| name | meaning | unit |\n|---|---|---|\n" if has_unit else "\n| name | meaning |\n|---|---|\n"
    rows = []
    for name, term in terms.items():
        meaning = re.sub(rf"^The [\w ]+ `{name}`(: |$)", "", _summary(term)) or _summary(configs[name])
        rows.append(_cells(name, meaning, *([term.unit] if has_unit else [])))
    owners: dict[str, list[str]] = {}
    for case in schema.get("allOf", ()):
        table = case["then"]
        for key, value in table["properties"].items() if table.get("title") in terms else ():
            if key not in ("type", "extends"):
                needed = next(each for each in fields_of(configs[table["title"]]) if each.name == key)
                row = _row(key, value, needed.default is attrs.NOTHING)
                owners.setdefault(row, []).append(f"`{table['title']}`")
    if not owners:
        return head + "".join(rows)
    keys = "\n| key | type | unit | default | meaning | of |\n|---|---|---|---|---|---|\n"
    told = [f"{row} {'all' if len(names) == len(terms) else ', '.join(names)} |\n" for row, names in owners.items()]
    return head + "".join(rows) + keys + "".join(told)


PAGES = {
    "configuration": configuration_page,
    "cli": cli_page,
    "solvers": solvers_page,
    "honoured": honoured_page,
    "sensors": sensors_page,
    "physics-checks": physics_page,
    "views": views_page,
    "hooks": hooks_page,
    "public-names": public_names_page,
    "conformance": conformance_page,
    "tasks": tasks_page,
}
"""Function that returns each page, by the name of its file."""


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (REFERENCE / f"{name}.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
