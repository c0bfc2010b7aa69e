"""Write the reference pages that are made from the code: `python docs/write_reference.py`.

`tests/docs/test_docs.py` fails where a page is not what this script would write.
"""

from __future__ import annotations

import inspect
import json
import re
import runpy
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import click
from pippin import Simulation
from pippin.assembly.requirements import solvers_declaring
from pippin.catalog.entries import Catalog
from pippin.cli import main as pippin_command
from pippin.components.bound import Bound
from pippin.components.declaration import Declaration
from pippin.config.fields import default_of, field_texts
from pippin.config.schema import json_schema
from pippin.conformance import CHECKS, Conformance
from pippin.conformance.benches import BENCHES, UNTRIED
from pippin.solving import FEATURES
from pippin.views.quantities import ARTICULATION, RIGID_BODY, Quantity

REFERENCE = Path(__file__).parent / "reference"
EXAMPLE = Path(__file__).parent / "examples" / "sensors.toml"
ROOT = Path(__file__).parents[1]
PHYSICS_CHECKS = Path(__file__).parents[1] / "tests" / "physics" / "checks.toml"

Schema = Mapping[str, Any]

CONFIGURATION = """\
# Configuration

<!-- Written by docs/write_reference.py from the configuration classes. Change those, then run it. -->

Every table and key of a configuration file, with the plugins of this repository.
A file is TOML, YAML or JSON; the [examples](../examples) are TOML.
`pippin show FILE` prints a file with every default, and `pippin schema` writes what follows for an editor.

Nothing is converted: `"3"`, `2.7` and `true` are not integers.
A key that is not listed here is an error, and so are NaN and infinity.
A key with neither default nor "required" may be left out; its meaning says what holds then.
Patterns are explained in the [glossary](glossary.md#label-pattern).

Beside the tables, a file may begin with `extends`, a list of files it is merged over:
tables merge key by key, lists and scalars replace, and a table whose `type` changes drops its other keys.

Two variables of the environment act like the table `[catalog]`, for every file: `PIPPIN_CATALOG_BLOCK` holds names of
plugins or distributions that may not be chosen, separated by commas; `PIPPIN_CATALOG_ALLOW` the only ones that may.
[Find out what is wrong with a plugin](../how-to/debug-plugin.md#keep-a-plugin-out) has examples.
"""

CLI = """\
# Command line

<!-- Written by docs/write_reference.py from the commands' own help. Change that, then run it. -->
"""

SOLVERS = """\
# Solvers

<!-- Written by docs/write_reference.py from what the plugins declare. Change that, then run it. -->

What each solver of this repository declares and answers; [configuration](configuration.md) has its settings, and
[physics checks](physics-checks.md) tell how near it comes to formulas.

- **coordinates**: what it writes, as [the attribute](hooks.md#attributes-of-a-component) says it
- **contacts**: from Newton's pipeline, which `[collision]` configures, or from the solver itself
- **captured**: when its steps are replayed from a graph; `sim.program` gives the reason where they are not
- **same bits on**: the devices where every run gives the same bits, as
  [`simulation.determinism`](../how-to/reproducible-runs.md) asks for; on CUDA it has not been tried
- **observables**: what sensors can read of it

| solver | coordinates | contacts | captured | same bits on | observables |
|---|---|---|---|---|---|
"""

FEATURES_TABLE = """
## What they take part in

A scene that uses what a solver does not take part in is refused before anything is compiled;
a parameter that it does not know is left out with a warning.
`pippin check FILE` says it for every solver, and `simulation.accept_unsupported` accepts it.
Where a cell names an option, the solver takes part if the option is true.

"""

CHANGES_TABLE = """
## What they take over while they run

Arrays of `sim.model` may be written between steps, in some worlds or in all.
`sim.notify_model_changed` then tells the solver, with flags of `newton.ModelFlags`; what is captured stays valid.
A flag that the solver does not take over is refused, as the change would have no effect.

"""

BUILDER = """
## What they add to a builder

A prototype built in Python [registers the same](../how-to/robot-from-python.md) before anything is added to it.

| solver | before assets | after replication |
|---|---|---|
"""

SENSORS = """\
# Sensors

<!-- Written by docs/write_reference.py from the sensors of docs/examples/sensors.toml. Change those, then run it. -->

Each sensor has a page of its own; [configuration](configuration.md) has its settings, and
[use sensors](../how-to/use-sensors.md) what they have in common: periods, noise, and how to read them.

A sensor that reads nothing of the solver works with every one, and a reset measures it anew. The outputs of the others
are zero after a reset until the next step; a solver that does not report what they read is refused. An `imu` with
`source = "finite-difference"` reads nothing.

| sensor | what it gives | reads | solvers |
|---|---|---|---|
"""

OUTPUTS = """
## Outputs

Those of the [example](../examples/sensors.toml), in two worlds: a quadruped before steps. The first number of a shape
is the worlds, the second what the sensor's patterns match in each. The sensor's page says which frame is meant; `none`
has no direction.

| sensor | output | unit | frame | shape in the example |
|---|---|---|---|---|
"""

PHYSICS = """\
# Physics checks

<!-- Written by docs/write_reference.py from tests/physics/checks.toml. Change that, then run it. -->

What each solver of this repository is held to, on the CPU, by [the tests](../../tests/physics) against formulas.
A figure is the tolerance that its tests pass with: about twice the error measured, and more where that is rounding.
[Below](#solver-by-solver) stands what the errors are made of; [solvers](solvers.md) says what else tells them apart.

## Rigid bodies

All experiments are in [one scene](../../tests/physics/laboratory.toml): a tumbling top, two pendulums, two spheres,
boxes on plates and a tower of three. Worlds differ in gravity alone: upright, tilted by θ with tan θ = 0.35, and none.

- **free fall**: v = g t and z = g t (t + h) / 2 after 0.5 s with substeps of h, relative
- **free top**: angular velocity of a free symmetric top by Euler's equations over 0.5 s, relative
- **small swing**: period of a pendulum from 0.05 rad, relative
- **large swing**: period from 2 rad, by the elliptic integral, relative
- **energy**: largest drift of the large swing's energy over the whole run, relative to the start
- **sticking**: speed at which a box with μ = 0.6 creeps where gravity is tilted [m/s]
- **sliding**: acceleration of a box with μ = 0.2 there, against g (sin θ - μ cos θ), relative
- **momentum**: change of m₁ v₁ + m₂ v₂ through a head-on collision, relative to m₁ |v₁| + m₂ |v₂|
- **restitution**: speed of parting over speed of closing, against 0.5 or what the contact's springs give
- **stack**: largest distance of a box of the tower from its place at the end [m]; springs may yield by the formula
- **rest**: kinetic energy of the tower at the end [J]; it weighs 12 kg

"""

PARTICLES = """
## Cloth and grains

A stretched cloth, a net (`xpbd`) or a block of grains (`implicit-mpm`) flies for 0.2 s: its centre of mass falls by
the formula, and its momentum across is kept, both relative. The other solvers do not move particles.

"""

VERDICTS = """
## Solver by solver
"""

VIEWS = """\
# Views

<!-- Written by docs/write_reference.py from the tables of quantities. Change those, then run it. -->

What `simulation.view` gives: `articulations(pattern)` and `rigid_bodies(pattern)` have a method `get_NAME` for each row
of these tables, and `set_NAME` where something follows from setting it.
[Views](../how-to/views.md) shows how they are used, and what `contacts(sensors, filters)` gives.

- **shape**: N rows, D DOFs, C coordinates and L links of the row with the most, G generalized DOFs: six of a free root,
  if any row has one, then the D others. Where a row has fewer, it is padded with 0.
- **array**: where the numbers are, of the state, the inputs (`control`), the `model`, or what the
  [solver reports](glossary.md#observable); such a report is asked for by `simulation.observables`.
- **when it is set**: `●` is all there is to it. Flags of `newton.ModelFlags` are what the solver is told, once, before
  the next step; a solver that does not take them over [refuses](solvers.md#what-they-take-over-while-they-run).
  "bodies" are computed from joints, once, before the next step or read, for the articulations that were set.

Numbers are float32, poses and velocities in the world: every world has the same origin.
"""

CONTACTS = """
## Contacts

`contacts(sensors, filters, max_contact_data=K)` reads the observable `contact_f` of S sensors, which are bodies, with
up to F filters each; K rows hold single contacts. [Read contact forces](../how-to/contact-forces.md) shows how. Forces
act on the sensor, in the last substep; with a `dt` they are multiplied by the length of a physics step and divided by
it.

| method | field | meaning | unit | shape |
|---|---|---|---|---|
| `net_forces` |  | sum of all forces on the sensor, in the world | N | (S, 3) |
| `force_matrix` |  | force of each filter on the sensor, in the world | N | (S, F, 3) |
| `contact_data` | `forces` | normal force; positive pushes the sensor away | N | (K) |
| `contact_data` | `points` | midpoint between the surfaces, in the world | m | (K, 3) |
| `contact_data` | `normals` | unit vector towards the sensor, in the world | 1 | (K, 3) |
| `contact_data` | `separations` | distance of the surfaces, negative where they penetrate | m | (K) |
| `contact_data` | `counts` | contacts of each pair, also those without a row | 1 | (S, F) |
| `contact_data` | `starts` | first row of each pair | 1 | (S, F) |
| `contact_data` | `overflow` | rows that were needed when they were too few, else 0 | 1 | (1) |
| `raw_contact_data` | `forces` | as above, of all contacts | N | (K) |
| `raw_contact_data` | `points` | as above | m | (K, 3) |
| `raw_contact_data` | `normals` | as above | 1 | (K, 3) |
| `raw_contact_data` | `separations` | as above | m | (K) |
| `raw_contact_data` | `counts` | contacts of each sensor | 1 | (S) |
| `raw_contact_data` | `starts` | first row of each sensor | 1 | (S) |
| `raw_contact_data` | `overflow` | as above | 1 | (1) |
| `raw_contact_data` | `other_bodies` | body that exerts the force, -1 where it is static | 1 | (K) |
| `raw_contact_data` | `other_shapes` | its shape, -1 in rows that are not used | 1 | (K) |
| `friction_data` | `forces` | tangential force on the sensor, in the world | N | (K, 3) |
| `friction_data` | `points` | as above | m | (K, 3) |
| `friction_data` | `counts` | contacts of each pair; without filters, of each sensor | 1 | (S, F) |
| `friction_data` | `starts` | first row of each pair; without filters, of each sensor | 1 | (S, F) |
| `friction_data` | `overflow` | as above | 1 | (1) |
"""

CONFORMANCE = """\
# Conformance

<!-- Written by docs/write_reference.py from the checks and the plugins' own tests. Change those, then run it. -->

What every plugin promises, and [`pippin check-plugin`](cli.md#pippin-check-plugin) tries.
[Test a plugin](../how-to/test-a-plugin.md) tells how to run the checks in tests of your own.
All plugins of this repository pass all checks of their kind, [but for these](#exceptions).

Simulations run on the CPU, in three worlds, with hinged links and a ball on the ground; free bodies, pendulums and
mechanisms are tried without other things beside them. "The same" is to the bit unless a figure is given.
"""

FEATURE_CHECKS = """
## Features

A feature that a solver declares in `supported_features` has to show on a small mechanism, within 0.1 s.

| check | what is measured | has to be |
|---|---|---|
"""

EXCEPTIONS = """
## Exceptions

| plugin | check | why it fails |
|---|---|---|
"""

SETTINGS = """
## Settings

Plugins are tried with their defaults, in substeps of 2 ms, and where more is needed with what stands here.

| plugin | settings |
|---|---|
"""

ATTRIBUTES_BEFORE = """
The host reads these once, when the component is registered, before anything is built:

"""

ATTRIBUTES_AFTER = """
It reads these after `bind`, whenever it needs them, so that a component may decide in `bind`:

"""

ATTRIBUTE_COLUMNS = "| attribute | who | default | meaning |\n|---|---|---|---|\n"

PUBLIC_NAMES = """\
# Public names

<!-- Written by docs/write_reference.py from the docstrings of public modules. Change those, then run it. -->

These names keep their meaning within a [contract version](contract-version.md). Every name has one path, and a plugin
imports nothing else of Pippin; `pippin.views` and `pippin.isaac` are for users, not for plugins.
"""

MODEL_CHANGES = {
    "MODEL_PROPERTIES": "gravity, of each world",
    "BODY_INERTIAL_PROPERTIES": "masses, inertias, centres of mass",
    "BODY_PROPERTIES": "bodies that are moved by hand, or no longer",
    "JOINT_PROPERTIES": "frames and axes of joints",
    "JOINT_DOF_PROPERTIES": "all of the following three that the solver knows",
    "JOINT_DOF_FORCE_PROPERTIES": "gains, limits, damping, friction and stiffness of joints",
    "JOINT_DOF_INERTIAL_PROPERTIES": "armature",
    "JOINT_REFERENCE_POSE_PROPERTIES": "where springs of joints and rods are at rest",
    "SHAPE_PROPERTIES": "friction, stiffness, placing and size of shapes",
    "SHAPE_TYPE_AND_SOURCE": "what a shape is",
    "CONSTRAINT_PROPERTIES": "mimic joints and equality constraints",
    "TENDON_PROPERTIES": "tendons",
    "ACTUATOR_PROPERTIES": "MuJoCo's actuators",
}
"""What flags of `newton.ModelFlags` stand for."""

BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def configuration_page() -> str:
    """Return the page of every table and key, from the JSON Schema of everything installed."""
    schema, problems = json_schema(Catalog.installed())
    if problems:
        raise RuntimeError("\n".join(problems))
    tables = {key: value for key, value in schema["properties"].items() if key not in ("$schema", "extends")}
    sections = [part for key, value in tables.items() for part in _sections(key, value, _demanded(schema["then"], key))]
    page = "\n".join([CONFIGURATION, *sections]).rstrip() + "\n"
    # What several plugins have in common stands once.
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
    """Return the tables of what every installed solver declares and answers."""
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
    """Return what sensors read, and the outputs that those of the example have."""
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
    """Return what a sensor gives, what it reads of the solver, and which solvers report that."""
    kinds = sorted(sensor.observables)
    able = [solver for kind in kinds for solver in solvers_declaring("supported_observables", kind, catalog)]
    reads = ", ".join(f"`{kind}`" for kind in kinds) or "nothing"
    solvers = ", ".join(f"`{solver}`" for solver in able) or "all"
    return _row_of_solvers(f"[`{name}`](sensors/{name}.md)", (_summary(type(sensor)), reads, solvers))


def _changes_table(solvers: Mapping[str, Any]) -> str:
    """Return which changes of the model each solver declares to take over."""
    lines = [_row_of_solvers("flag", (f"`{name}`" for name in solvers)), "|---" * (len(solvers) + 1) + "|\n"]
    for flag, meaning in MODEL_CHANGES.items():
        marks = ("●" if flag in plugin.supported_model_changes else "" for plugin in solvers.values())
        lines.append(_row_of_solvers(f"`{flag}`: {meaning}", marks))
    return "".join(lines)


def _row_of_solvers(first: str, cells: Iterable[str]) -> str:
    return "| " + " | ".join([first, *cells]) + " |\n"


def _feature_table(solvers: Mapping[str, Any]) -> str:
    """Return which feature each solver declares, and what an option has to switch on."""
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
    """Return the tolerances of the physics checks, why they are what they are, and what each solver is good for."""
    rows = tomllib.loads(PHYSICS_CHECKS.read_text(encoding="utf-8"))
    verdicts = "".join(_verdict(name, row) for name, row in rows.items())
    return PHYSICS + _tolerances(rows, "checks") + PARTICLES + _tolerances(rows, "particles") + VERDICTS + verdicts


def conformance_page() -> str:
    """Return what the checks try, and which of them plugins of this repository are known to fail."""
    plain, of_features = ([check for check in CHECKS if ("feature_" in check.name) is kind] for kind in (False, True))
    rows = [f"| `{check.name}` | {', '.join(check.kinds)} | {check.promise} |\n" for check in plain]
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
    others = "\nNot tried by a mechanism:\n\n" + "".join(untried)
    return "".join(
        [CONFORMANCE, table, FEATURE_CHECKS, *features, others, EXCEPTIONS, *exceptions, SETTINGS, *settings]
    )


def _feature_row(check: str) -> str:
    bench = BENCHES[check.removeprefix("feature_")]
    return f"| `{check}` | {bench.expectation} | {bench.least:.3g} to {bench.most:.3g} |\n"


def conformances() -> list[Conformance]:
    """Return what the tests of every plugin hold it to, in the order of the catalog."""
    files = [
        path for folder in ("solvers", "actuators", "sensors") for path in ROOT.glob(f"{folder}/*/tests/test_*.py")
    ]
    found = [run["CONFORMANCE"] for run in map(runpy.run_path, map(str, files)) if "CONFORMANCE" in run]
    order = [(entry.kind, entry.name) for entry in Catalog.installed().entries]
    return sorted(found, key=lambda each: order.index((each.subject.kind, each.subject.name)))


def _settings(conformance: Conformance) -> str:
    """Return how a plugin is tried otherwise than by default."""
    subject = conformance.subject
    parts = [f"`{key} = {_inline(value)}`" for key, value in subject.config.items() if key != "model"]
    if subject.dt != 0.002:
        parts.append(f"substeps of {1000 * subject.dt:g} ms")
    if subject.prototype is not None:
        parts.append(f"a scene of its own: {_summary(subject.prototype)}")
    return ", ".join(parts)


def _tolerances(rows: Mapping[str, Any], kind: str) -> str:
    """Return the table of what rigid bodies or particles are held to."""
    cells = {name: row[kind] for name, row in rows.items() if kind in row}
    checks = [check.replace("_", " ") for check in next(iter(cells.values()))]
    head = "| " + " | ".join(["solver", *checks]) + " |\n" + "|---" * (len(checks) + 1) + "|\n"
    return head + "".join(
        _cells(name, *(f"{cell['tolerance']:g}" for cell in row.values())) for name, row in cells.items()
    )


def _verdict(name: str, row: Mapping[str, Any]) -> str:
    """Say what a solver is good for, with which options it was run, and what its errors are made of."""
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
    """Return an option as a file has it."""
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
    """Say where contacts come from, by what the hook returns; None leaves them to the host."""
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
    """Yield the section of whatever tables stand at a path, then those of the tables inside them."""
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
        yield f"## `[{path}]`\n\nFor plugins that are no solver, actuator or sensor. This repository has none.\n"


def _table(
    path: str, table: Schema, demands: Schema, lead: str | None = None, plugin: str | None = None
) -> Iterator[str]:
    texts = [text for text in (lead, table.get("description")) if text]
    title = f"`{path}` with type `{plugin}`" if plugin else f"`{path}`"
    yield f"## {title}\n\n{' '.join(texts)}\n"
    keys = {key: value for key, value in table["properties"].items() if not (plugin and key == "type")}
    required = {*table.get("required", ()), *demands.get("required", ())}
    rows = [_row(key, value, key in required) for key, value in keys.items() if not _opens_tables(value)]
    if rows:
        yield "| key | type | unit | default | meaning |\n|---|---|---|---|---|"
        yield "\n".join(rows) + "\n"
    for key, value in keys.items():
        if _opens_tables(value):
            yield from _sections(f"{path.strip('[]')}.{key}", value, _demanded(demands, key))


def _opens_tables(value: Schema) -> bool:
    """Tell whether a key holds tables with keys of their own."""
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
    """Take the first unit in brackets out of a description."""
    found = re.search(r" \[([^\]`]+)\]", text)
    return (text[: found.start()] + text[found.end() :], found[1]) if found else (text, "")


def _type(value: Schema) -> str:
    bounds = [f"{sign} {_toml(value[word])}" for word, sign in BOUNDS.items() if word in value]
    if "anyOf" in value:
        return " or ".join(" ".join([_type(choice), *bounds]) for choice in value["anyOf"])
    if "enum" in value:
        return " or ".join(f"`{_toml(choice)}`" for choice in value["enum"])
    if value.get("type") == "array":
        count = value["minItems"] if value.get("minItems") == value.get("maxItems", -1) else "list of"
        return f"{count} {_plural(_type(value['items']))}"
    if value.get("type") == "object" and "properties" in value:
        return "`{ " + ", ".join(f"{key} = …" for key in value["properties"]) + " }`"
    if value.get("type") == "object" and _repeats_its_neighbours(value["additionalProperties"]):
        return "table of these"
    if value.get("type") == "object":
        return f"table of {_plural(_type(value['additionalProperties']))}"
    return " ".join([value.get("type", "any"), *bounds])


def _plural(kind: str) -> str:
    """Return several of what a type is called; its bounds and names stay as they are."""
    return re.sub(r"^(boolean|integer|number|string|table)\b", r"\1s", kind)


def _repeats_its_neighbours(values: Schema) -> bool:
    """Tell whether a table's values are what may stand in its place, a number or a table of bounds."""
    return any("properties" in choice for choice in values.get("anyOf", ()))


def _toml(value: Any) -> str:
    """Return a value as TOML has it; scalars and lists are the same in JSON."""
    number = f"{value:g}" if isinstance(value, float) else None
    return number or json.dumps(value, ensure_ascii=False)


def views_page() -> str:
    """Return the tables of quantities of the views."""
    tables = {"Articulations": ARTICULATION, "Rigid bodies": RIGID_BODY}
    quantities = "".join(
        f"\n## {title}\n\n| name | unit | shape | array | frame | when it is set |\n|---|---|---|---|---|---|\n"
        + "".join(_quantity(quantity) for quantity in table.values())
        for title, table in tables.items()
    )
    return VIEWS + quantities + CONTACTS


def _quantity(quantity: Quantity) -> str:
    columns = {"dof": "D", "coordinate": "C", "link": "L", "generalized": "G"}.get(quantity.element)
    shape = ["N", *([columns] if columns else []), *([str(quantity.components)] if quantity.components > 1 else [])]
    if quantity.source == "computed" and quantity.name in ("jacobians", "mass_matrices"):
        shape.append("G")
    where = {"observable": "observables", "computed": ""}.get(quantity.source, quantity.source)
    arrays = ", ".join(f"`{where}.{array}`" for array in quantity.arrays) or "computed"
    follows = [f"`{flag}`" for flag in quantity.flags] + (["bodies"] if quantity.invalidates else [])
    effect = (", ".join(follows) or "●") if quantity.is_settable else ""
    texts = [quantity.unit, f"({', '.join(shape)})", arrays, quantity.frame, effect]
    return f"| `{quantity.name}`: {quantity.meaning} | " + " | ".join(texts) + " |\n"


def hooks_page() -> str:
    """Return the page of hooks with the tables of attributes; the rest of it is written by hand."""
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
    plugins = [(entry.name, entry.load()) for entry in Catalog.installed().entries]
    return "".join(_with_users(section, plugins) for section in re.split(r"(?m)^(?=### )", page))


def _with_users(section: str, plugins: Iterable[tuple[str, type]]) -> str:
    """Return the section of a hook with the plugins that answer it; other sections as they are."""
    hook = re.match(r"### `(\w+)\(", section)
    if hook is None:
        return section
    users = [name for name, plugin in plugins if hasattr(getattr(plugin, hook[1], None), "pippin_impl")]
    told = f"Used by: {', '.join(users) or 'none of this repository'}."
    return re.sub(r"(?m)^Used by: .*?\.$", told, section, count=1)


def _attribute(name: str, text: str, default: Any) -> str:
    """Return a row; its text begins with the kind of component that may have the attribute, if only one may."""
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


PAGES = {
    "configuration": configuration_page,
    "cli": cli_page,
    "solvers": solvers_page,
    "sensors": sensors_page,
    "physics-checks": physics_page,
    "views": views_page,
    "hooks": hooks_page,
    "public-names": public_names_page,
    "conformance": conformance_page,
}
"""What writes each page, by the name of its file."""


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (REFERENCE / f"{name}.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
