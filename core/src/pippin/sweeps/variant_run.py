"""The run of a variant: its outcome and its figures."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

from pippin.analysis.measured_run import MeasuredRun
from pippin.config import SimulationConfig
from pippin.runs.summary import what_ran

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
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        run = MeasuredRun(config, steps, time.time(), folder, (folder / "begun").touch, may_grow=True)
    result, simulation = run.result(solver=""), run.loop.simulation
    has_diverged = simulation.first_diverged_step is not None
    return {
        "outcome": "ok" if run.loop.end is None else "diverged" if has_diverged else "failed",
        "reason": result.reason,
        "figures": {
            "worlds": simulation.world_count,
            "steps": simulation.step_count,
            "simulated_time": simulation.time,
            **{name: value for name, value in result.figures().items() if name not in _NO_FIGURES},
        },
        "ignored": list(result.ignored),
        **what_ran(simulation, run.loop.notes),  # recorders write their last rows, and note faults, at the end
        "warnings": list(dict.fromkeys(" ".join(str(each.message).split()) for each in noted)),
    }
