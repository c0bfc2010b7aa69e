"""The kinds of plugins that Pippin itself brings, registered as any other kind is."""

from __future__ import annotations

from pippin.catalog import Kind

SOLVER = Kind(
    name="solver",
    plural="solvers",
    meaning="Advances the state of all worlds by a step of physics.",
    place="solver",
    order=0,
    is_component=True,
    checks="pippin_conformance.kinds:SOLVER",
    template="pippin_conformance.templates:solver",
)
ACTUATOR = Kind(
    name="actuator",
    plural="actuators",
    meaning="Turns targets of joints into efforts.",
    place="actuators.*",
    order=10,
    is_component=True,
    checks="pippin_conformance.kinds:ACTUATOR",
    template="pippin_conformance.templates:actuator",
)
CLAMPING = Kind(
    name="clamping",
    plural="clampings",
    meaning="Limits the efforts of an actuator.",
    place="actuators.*.clamping[]",
    order=20,
    checks="pippin_conformance.kinds:CLAMPING",
    template="pippin_conformance.templates:clamping",
)
SENSOR = Kind(
    name="sensor",
    plural="sensors",
    meaning="Measures a simulation at the end of a control step.",
    place="sensors.*",
    order=30,
    is_component=True,
    checks="pippin_conformance.kinds:SENSOR",
    template="pippin_conformance.templates:sensor",
)
CONTROLLER = Kind(
    name="controller",
    plural="controllers",
    meaning="Turns goals, such as poses of a tool, into targets of actuators.",
    place="controllers.*",
    order=40,
    is_component=True,
    checks="pippin_conformance.kinds:CONTROLLER",
    template="pippin_conformance.templates:controller",
)
MOTION = Kind(
    name="motion",
    plural="motions",
    meaning="Prescribes a motion or a force as a function of time.",
    place="motions.*",
    order=50,
    is_component=True,
    checks="pippin_conformance.kinds:MOTION",
    template="pippin_conformance.templates:motion",
)
STAGE = Kind(
    name="stage",
    plural="stages",
    meaning="Changes the readings of a sensor, as noise and latency do.",
    place="sensors.*.stages[]",
    order=60,
    base="pippin.sensing:Stage",
    checks="pippin_conformance.kinds:STAGE",
    template="pippin_conformance.templates:stage",
)
VIEWER = Kind(
    name="viewer",
    plural="viewers",
    meaning="Shows a simulation.",
    place="viewers.*",
    order=70,
    is_component=True,
    is_observer=True,
    checks="pippin_conformance.kinds:VIEWER",
    template="pippin_conformance.templates:viewer",
)
RECORDER = Kind(
    name="recorder",
    plural="recorders",
    meaning="Writes what happens into a file.",
    place="recorders.*",
    order=80,
    is_component=True,
    is_observer=True,
    checks="pippin_conformance.kinds:RECORDER",
    template="pippin_conformance.templates:recorder",
)
READER = Kind(
    name="reader",
    plural="readers",
    meaning="Reads the files of a recorder.",
    order=90,
    checks="pippin_conformance.kinds:READER",
)
IMPORTER = Kind(
    name="importer",
    plural="importers",
    meaning="Reads the file of a robot or an object into a scene.",
    place="scene.assets[].importer",
    order=140,
    base="pippin.assets:Importer",
    is_named_alone=True,
    checks="pippin_conformance.kinds:IMPORTER",
    template="pippin_conformance.templates:importer",
)
OBJECT = Kind(
    name="object",
    plural="objects",
    meaning="Adds bodies, shapes or particles to a scene without a file.",
    place="scene.objects[]",
    order=150,
    checks="pippin_conformance.kinds:OBJECT",
    template="pippin_conformance.templates:object",
)
TERRAIN = Kind(
    name="terrain",
    plural="terrains",
    meaning="Is a patch of ground, such as stairs.",
    place="scene.terrain.patches.*",
    order=160,
    base="pippin.terrains:Patch",
    checks="pippin_conformance.kinds:TERRAIN",
    template="pippin_conformance.templates:terrain",
)
SUBCOMMAND = Kind(
    name="subcommand",
    plural="subcommands",
    meaning="Adds a command to `pippin`.",
    order=250,
    provides="command",
    template="pippin_conformance.templates:subcommand",
)
PLUGIN = Kind(
    name="plugin",
    plural="plugins",
    meaning="Answers any of the hooks.",
    place="plugins.*",
    order=255,
    is_component=True,
    checks="pippin_conformance.kinds:PLUGIN",
    template="pippin_conformance.templates:extension",
)
TABLE = Kind(
    name="table",
    plural="tables",
    meaning="Is a table at the top of a file: settings of a command, or a component of each step.",
    order=270,
    provides="table",
)
