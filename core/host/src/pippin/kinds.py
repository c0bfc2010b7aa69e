"""The kinds of plugins that Pippin itself brings, registered as any other kind is."""

from __future__ import annotations

from typing import Any

from pippin.catalog import Kind


def _kind(**record: Any) -> Kind:
    """Return a kind with the checks and the template that the kit has under its name."""
    name = record["name"]
    of_kit = {"checks": f"pippin_conformance.kinds:{name.upper()}", "template": f"pippin_conformance.templates:{name}"}
    whole: dict[str, Any] = of_kit | record
    return Kind(**whole)


SOLVER = _kind(
    name="solver",
    plural="solvers",
    meaning="Advances the state of all worlds by a step of physics.",
    place="solver",
    order=0,
    is_component=True,
)
ACTUATOR = _kind(
    name="actuator",
    plural="actuators",
    meaning="Turns targets of joints into efforts.",
    place="actuators.*",
    order=10,
    is_component=True,
)
CLAMPING = _kind(
    name="clamping",
    plural="clampings",
    meaning="Limits the efforts of an actuator.",
    place="actuators.*.clamping[]",
    order=20,
)
SENSOR = _kind(
    name="sensor",
    plural="sensors",
    meaning="Measures a simulation at the end of a control step.",
    place="sensors.*",
    order=30,
    is_component=True,
)
CONTROLLER = _kind(
    name="controller",
    plural="controllers",
    meaning="Turns goals, such as poses of a tool, into targets of actuators.",
    place="controllers.*",
    order=40,
    is_component=True,
)
MOTION = _kind(
    name="motion",
    plural="motions",
    meaning="Prescribes a motion or a force as a function of time.",
    place="motions.*",
    order=50,
    is_component=True,
)
STAGE = _kind(
    name="stage",
    plural="stages",
    meaning="Changes the readings of a sensor, as noise and latency do.",
    place="sensors.*.stages[]",
    order=60,
    base="pippin.sensing:Stage",
)
VIEWER = _kind(
    name="viewer",
    plural="viewers",
    meaning="Shows a simulation.",
    place="viewers.*",
    order=70,
    is_component=True,
    is_observer=True,
)
RECORDER = _kind(
    name="recorder",
    plural="recorders",
    meaning="Writes what happens into a file.",
    place="recorders.*",
    order=80,
    is_component=True,
    is_observer=True,
)
READER = Kind(
    name="reader",
    plural="readers",
    meaning="Reads the files of a recorder.",
    order=90,
    checks="pippin_conformance.kinds:READER",
)
IMPORTER = _kind(
    name="importer",
    plural="importers",
    meaning="Reads the file of a robot or an object into a scene.",
    place="scene.assets[].importer",
    order=140,
    base="pippin.assets:Importer",
    is_named_alone=True,
)
OBJECT = _kind(
    name="object",
    plural="objects",
    meaning="Adds bodies, shapes or particles to a scene without a file.",
    place="scene.objects[]",
    order=150,
)
TERRAIN = _kind(
    name="terrain",
    plural="terrains",
    meaning="Is a patch of ground, such as stairs.",
    place="scene.terrain.patches.*",
    order=160,
    base="pippin.terrains:Patch",
)
SUBCOMMAND = Kind(
    name="subcommand",
    plural="subcommands",
    meaning="Adds a command to `pippin`.",
    order=250,
    provides="command",
    template="pippin_conformance.templates:subcommand",
)
PLUGIN = _kind(
    name="plugin",
    plural="plugins",
    meaning="Answers any of the hooks.",
    place="plugins.*",
    order=255,
    is_component=True,
    template="pippin_conformance.templates:extension",
)
TABLE = Kind(
    name="table",
    plural="tables",
    meaning="Is a table at the top of a file: settings of a command, or a component of each step.",
    order=270,
    provides="table",
)
