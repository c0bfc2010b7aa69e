"""The kinds of plugins that Pippin itself brings, registered as any other kind is."""

from __future__ import annotations

from functools import partial
from typing import Any

from pippin.catalog import Kind


def _kind(name: str, order: int, meaning: str, *, is_component: bool = False, **others: Any) -> Kind:
    """Return a kind with the checks and the template that the kit has under its name; components stand in `PLURAL`."""
    whole: dict[str, Any] = {"place": f"{name}s.*"} if is_component else {}
    whole |= {"checks": f"pippin_conformance.kinds:{name.upper()}", "template": f"pippin_conformance.templates:{name}"}
    return Kind(name=name, plural=f"{name}s", order=order, meaning=meaning, is_component=is_component, **whole | others)


_component = partial(_kind, is_component=True)

SOLVER = _component("solver", 0, "Advances the state of all worlds by a step of physics.", place="solver")
ACTUATOR = _component("actuator", 10, "Turns targets of joints into efforts.")
CLAMPING = _kind("clamping", 20, "Limits the efforts of an actuator.", place="actuators.*.clamping[]")
SENSOR = _component("sensor", 30, "Measures a simulation at the end of a control step.")
CONTROLLER = _component("controller", 40, "Turns goals, such as poses of a tool, into targets of actuators.")
MOTION = _component("motion", 50, "Prescribes a motion or a force as a function of time.")
STAGE = _kind(
    "stage",
    60,
    "Changes the readings of a sensor, as noise and latency do.",
    place="sensors.*.stages[]",
    base="pippin.sensing:Stage",
)
VIEWER = _component("viewer", 70, "Shows a simulation.", is_observer=True)
RECORDER = _component("recorder", 80, "Writes what happens into a file.", is_observer=True)
READER = _kind("reader", 90, "Reads the files of a recorder.", template=None)
IMPORTER = _kind(
    "importer",
    140,
    "Reads the file of a robot or an object into a scene.",
    place="scene.assets[].importer",
    base="pippin.assets:Importer",
    is_named_alone=True,
)
OBJECT = _kind("object", 150, "Adds bodies, shapes or particles to a scene without a file.", place="scene.objects[]")
TERRAIN = _kind(
    "terrain",
    160,
    "Is a patch of ground, such as stairs.",
    place="scene.terrain.patches.*",
    base="pippin.terrains:Patch",
)
SUBCOMMAND = _kind("subcommand", 250, "Adds a command to `pippin`.", provides="command", checks=None)
PLUGIN = _component("plugin", 255, "Answers any of the hooks.", template="pippin_conformance.templates:extension")
TABLE = Kind(
    name="table",
    plural="tables",
    meaning="Is a table at the top of a file: settings of a command, or a component of each step.",
    order=270,
    provides="table",
)
