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
    checks="pippin.conformance.kinds:SOLVER",
    template="pippin.templates:solver",
)
ACTUATOR = Kind(
    name="actuator",
    plural="actuators",
    meaning="Turns targets of joints into efforts.",
    place="actuators.*",
    order=10,
    is_component=True,
    checks="pippin.conformance.kinds:ACTUATOR",
    template="pippin.templates:actuator",
)
CLAMPING = Kind(
    name="clamping",
    plural="clampings",
    meaning="Limits the efforts of an actuator.",
    place="actuators.*.clamping[]",
    order=20,
    checks="pippin.conformance.kinds:CLAMPING",
    template="pippin.templates:clamping",
)
SENSOR = Kind(
    name="sensor",
    plural="sensors",
    meaning="Measures a simulation at the end of a control step.",
    place="sensors.*",
    order=30,
    is_component=True,
    checks="pippin.conformance.kinds:SENSOR",
    template="pippin.templates:sensor",
)
CONTROLLER = Kind(
    name="controller",
    plural="controllers",
    meaning="Turns goals, such as poses of a tool, into targets of actuators.",
    place="controllers.*",
    order=40,
    is_component=True,
    checks="pippin.conformance.kinds:CONTROLLER",
    template="pippin.templates:controller",
)
MOTION = Kind(
    name="motion",
    plural="motions",
    meaning="Prescribes a motion or a force as a function of time.",
    place="motions.*",
    order=50,
    is_component=True,
    checks="pippin.conformance.kinds:MOTION",
    template="pippin.templates:motion",
)
STAGE = Kind(
    name="stage",
    plural="stages",
    meaning="Changes the readings of a sensor, as noise and latency do.",
    place="sensors.*.stages[]",
    order=60,
    base="pippin.sensing:Stage",
    checks="pippin.conformance.kinds:STAGE",
    template="pippin.templates:stage",
)
VIEWER = Kind(
    name="viewer",
    plural="viewers",
    meaning="Shows a simulation.",
    place="viewers.*",
    order=70,
    is_component=True,
    is_observer=True,
    checks="pippin.conformance.kinds:VIEWER",
    template="pippin.templates:viewer",
)
RECORDER = Kind(
    name="recorder",
    plural="recorders",
    meaning="Writes what happens into a file.",
    place="recorders.*",
    order=80,
    is_component=True,
    is_observer=True,
    checks="pippin.conformance.kinds:RECORDER",
    template="pippin.templates:recorder",
)
READER = Kind(
    name="reader",
    plural="readers",
    meaning="Reads the files of a recorder.",
    order=90,
    checks="pippin.conformance.kinds:READER",
)
EXECUTOR = Kind(
    name="executor",
    plural="executors",
    meaning="Runs the variants of a sweep.",
    order=100,
    checks="pippin.conformance.executor_checks:EXECUTOR",
)
TRAINER = Kind(name="trainer", plural="trainers", meaning="Learns a policy for a task.", place="trainer", order=110)
LOG = Kind(
    name="log",
    plural="logs",
    meaning="Reads the log of a real robot.",
    place="fit.reader",
    order=120,
    is_named_alone=True,
)
SCENE = Kind(
    name="scene",
    plural="scenes",
    meaning="States a problem of physics with a reference.",
    order=130,
    base="pippin.precision:BenchmarkScene",
    checks="pippin.conformance.scene_checks:SCENE",
    template="pippin.templates:scene",
)
IMPORTER = Kind(
    name="importer",
    plural="importers",
    meaning="Reads the file of a robot or an object into a scene.",
    place="scene.assets[].importer",
    order=140,
    base="pippin.assets:Importer",
    is_named_alone=True,
    checks="pippin.conformance.kinds:IMPORTER",
    template="pippin.templates:importer",
)
OBJECT = Kind(
    name="object",
    plural="objects",
    meaning="Adds bodies, shapes or particles to a scene without a file.",
    place="scene.objects[]",
    order=150,
    checks="pippin.conformance.kinds:OBJECT",
    template="pippin.templates:object",
)
TERRAIN = Kind(
    name="terrain",
    plural="terrains",
    meaning="Is a patch of ground, such as stairs.",
    place="scene.terrain.patches.*",
    order=160,
    base="pippin.terrains:Patch",
    checks="pippin.conformance.kinds:TERRAIN",
    template="pippin.templates:terrain",
)
QUANTITY = Kind(
    name="quantity",
    plural="quantities",
    meaning="Measures numbers of each world for observations, rewards and ends of episodes.",
    place="task.observations.*.*.of",
    order=170,
    is_named_alone=True,
    base="pippin.task:Quantity",
    checks="pippin.conformance.kinds:QUANTITY",
    template="pippin.templates:term",
)
ACTION = Kind(
    name="action",
    plural="actions",
    meaning="Gives the numbers of a policy their meaning.",
    place="task.actions.*",
    order=180,
    base="pippin.task:Action",
    checks="pippin.conformance.kinds:ACTION",
    template="pippin.templates:action",
)
REWARD = Kind(
    name="reward",
    plural="rewards",
    meaning="Is a term of the reward of a step.",
    place="task.rewards.*",
    order=190,
    base="pippin.task:Reward",
    checks="pippin.conformance.kinds:REWARD",
    template="pippin.templates:term",
)
TERMINATION = Kind(
    name="termination",
    plural="terminations",
    meaning="Ends an episode on a condition.",
    place="task.terminations.*",
    order=200,
    base="pippin.task:Termination",
    checks="pippin.conformance.kinds:TERMINATION",
    template="pippin.templates:termination",
)
EVENT = Kind(
    name="event",
    plural="events",
    meaning="Changes a simulation at random: at the start, at resets, or from time to time.",
    place="task.events.*",
    order=210,
    base="pippin.task:Event",
    checks="pippin.conformance.kinds:EVENT",
    template="pippin.templates:event",
)
COMMAND = Kind(
    name="command",
    plural="commands",
    meaning="Draws a target, such as a velocity, for each world.",
    place="task.commands.*",
    order=220,
    base="pippin.task:Command",
    checks="pippin.conformance.kinds:COMMAND",
    template="pippin.templates:command",
)
CURRICULUM = Kind(
    name="curriculum",
    plural="curricula",
    meaning="Changes the numbers of other terms while a policy learns.",
    place="task.curricula.*",
    order=230,
    base="pippin.task:Curriculum",
    checks="pippin.conformance.kinds:CURRICULUM",
    template="pippin.templates:curriculum",
)
METRIC = Kind(
    name="metric",
    plural="metrics",
    meaning="Measures how episodes go, without a part in the reward.",
    place="task.metrics.*",
    order=240,
    base="pippin.task:Metric",
    checks="pippin.conformance.kinds:METRIC",
    template="pippin.templates:metric",
)
SUBCOMMAND = Kind(
    name="subcommand",
    plural="subcommands",
    meaning="Adds a command to `pippin`.",
    order=250,
    provides="command",
    template="pippin.templates:subcommand",
)
PLUGIN = Kind(
    name="plugin",
    plural="plugins",
    meaning="Answers any of the hooks.",
    place="plugins.*",
    order=65,
    is_component=True,
    checks="pippin.conformance.kinds:PLUGIN",
    template="pippin.templates:extension",
)
TABLE = Kind(
    name="table",
    plural="tables",
    meaning="Is a table at the top of a file: settings of a command, or a component of each step.",
    order=270,
    provides="table",
)
