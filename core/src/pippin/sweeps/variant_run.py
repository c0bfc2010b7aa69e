"""The run of a variant: its outcome and its figures."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

from pippin.analysis.compare import SolverRun, measured_run
from pippin.config import SimulationConfig
from pippin.devices import warp_quiet
from pippin.errors import PluginError, SimulationError
from pippin.runs.growth import Growth, sizes_for
from pippin.runs.start import start_notes
from pippin.runs.summary import what_ran
from pippin.simulation import Simulation

__all__ = ["run_variant"]

_NO_FIGURES = ("solver", "outcome", "reason", "ignored", "warnings", "relative_energy_drift", "distance", "series")
"""What a comparison says of a run beside the figures, or by a reference."""


def run_variant(config: SimulationConfig, folder: Path, steps: int) -> dict[str, Any]:
    """Return the summary of a run: `outcome` ("ok", "diverged" or "failed"), `reason`, `figures`, and what ran.

    Args:
        config: The configuration.
        folder: Folder for the files of recorders; `begun` is written there after the first step.
        steps: Control steps to simulate.

    Raises:
        PippinError: The simulation cannot be built.
    """
    started, growth = time.time(), Growth(config)
    with warp_quiet(), warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        while True:
            with Simulation(growth.config, folder=folder) as simulation:
                summary, failure = _summary(simulation, folder, steps, started)
                start = start_notes(simulation)
                sizes = sizes_for(growth.asked, simulation.capacities, failure)
            if sizes is None or growth.is_exhausted:
                break
            growth.grow(sizes, simulation.time)
    summary |= what_ran(simulation, start)  # recorders write their last rows, and note faults, at the end
    return {**summary, "warnings": list(dict.fromkeys(" ".join(str(each.message).split()) for each in noted))}


def _summary(
    simulation: Simulation, folder: Path, steps: int, started: float
) -> tuple[dict[str, Any], SimulationError | PluginError | None]:
    try:
        result, failure = measured_run(simulation, steps, started, (folder / "begun").touch)
    except PluginError as error:  # a component raised in a step: what was measured until then is lost
        result, failure = SolverRun(solver="", outcome="failed", reason=str(error)), error
    diverged = None if failure is None else simulation.first_diverged_step
    summary = {
        "outcome": "ok" if failure is None else "failed" if diverged is None else "diverged",
        "reason": result.reason,
        "figures": {
            "worlds": simulation.world_count,
            "steps": simulation.step_count,
            "simulated_time": simulation.time,
            **{name: value for name, value in result.figures().items() if name not in _NO_FIGURES},
        },
        "ignored": list(result.ignored),
    }
    return summary, failure
