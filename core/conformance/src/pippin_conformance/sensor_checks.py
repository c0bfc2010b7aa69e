"""Checks of a sensor's outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from pippin import PluginError

from .kinds import LABEL
from .observation import Seen, given
from .runs import Runs


def check_outputs(runs: Runs) -> None:
    """`outputs` maps names to arrays with unit and frame. Their first axis is the worlds of the sensor, and they keep
    their memory.
    """
    with runs.subject.build(count=1, capture="off") as simulation:
        sensor = simulation.sensors[LABEL]
        outputs = given(sensor, "outputs", {})
        if not outputs:
            raise PluginError(f"{runs.subject}: has no outputs after bind; map names to pippin.sensing.Output")
        worlds = len(given(sensor, "worlds", range(simulation.world_count)))
        for name, output in outputs.items():
            if not isinstance(output.data, wp.array) or len(output.data) != worlds:
                what = f"shape {getattr(output.data, 'shape', None)}"
                raise PluginError(
                    f"{runs.subject}: output {name!r} has {what}; give it a row for each of {worlds} worlds"
                )
            if not output.unit or not output.frame:
                raise PluginError(
                    f"{runs.subject}: output {name!r} has no unit or no frame; say which, '1' for a number"
                )
        before = _addresses(sensor)
        simulation.step()
        if _addresses(sensor) != before:
            raise PluginError(f"{runs.subject}: a step replaced the arrays of outputs; write into those made in bind")


def check_readings(runs: Runs) -> None:
    """Readings are finite, and some of them change while bodies are pushed and joints swing."""
    initial, found = _outputs(runs.whole.initial), _outputs(runs.whole.half)
    for name, values in found.items():
        if not np.isfinite(values).all():
            raise PluginError(f"{runs.subject}: {name} holds values that are not finite; write each in every step")
    if all(np.array_equal(initial[name], values) for name, values in found.items()):
        raise PluginError(
            f"{runs.subject}: no reading changes while bodies are pushed and joints swing;"
            " measure in update_sensors, or test it in a scene with something to measure"
        )


def _addresses(sensor: Any) -> dict[str, int]:
    return {name: output.data.ptr for name, output in sensor.outputs.items()}


def _outputs(seen: Seen) -> dict[str, np.ndarray]:
    return {name: array for name, array in seen.arrays.items() if name.startswith("outputs[")}
