"""Page *Sensors*: outputs of each sensor, and the solvers that it works with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pippin import Simulation
from pippin.catalog.entries import Catalog
from pippin.support.requirements import solvers_declaring

from .rows import named_row, row_of_solvers, summary

EXAMPLE = Path(__file__).parents[1] / "examples" / "sensors.toml"

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


def page() -> str:
    """Return the observables that each sensor reads, and the outputs of the sensors in the example."""
    catalog = Catalog.installed()
    overrides = {"scene.worlds": 2, "simulation.device": "cpu"}
    with Simulation.from_file(EXAMPLE, overrides) as simulation:
        types = {label: choice.type for label, choice in simulation.config.sensors.items()}
        sensors = sorted((types[label], sensor) for label, sensor in simulation.sensors.items())
    outputs = [
        named_row(name, f"`{output}`", each.unit, f"`{each.frame}`", ", ".join(map(str, each.shape)))
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
    return row_of_solvers(f"[`{name}`](sensors/{name}.md)", (summary(type(sensor)), reads, solvers))
