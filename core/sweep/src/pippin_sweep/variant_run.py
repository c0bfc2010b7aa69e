"""The run of a variant: its outcome and its figures."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import newton
import warp as wp
from pippin import Simulation, SimulationConfig
from pippin.measuring import MeasuredRun
from pippin.recording import Recorder
from pippin.studies import what_ran

_NO_FIGURES = (
    *("solver", "outcome", "reason", "ignored", "warnings", "unmeasured_work"),
    *("relative_energy_drift", "distance", "series"),
)
"""What a comparison says of a run beside the figures, or by a reference."""


def run_variant(config: SimulationConfig, folder: Path, steps: int, kernels: str) -> dict[str, Any]:
    """Return the summary of a run: `outcome` ("ok", "diverged", "incomplete" or "failed"), `reason`, `figures`, and
    what ran. `begun` is written into the folder when the kernels of this name are compiled: after the first step, or
    at once if a run before has noted so in the kernel cache.

    Raises:
        PippinError: The simulation cannot be built.
    """
    # Warp clears the note with the kernels.
    note = Path(wp.config.kernel_cache_dir or "", f"wp_{kernels}_{newton.__version__}")

    def begun() -> None:
        (folder / "begun").touch()
        with suppress(OSError):  # kernels of a cache that cannot be written are noted nowhere
            note.mkdir(exist_ok=True)

    if note.exists():
        begun()
    with warnings.catch_warnings(record=True, action="always") as noted:
        run = MeasuredRun(config, steps, time.time(), folder, begun, may_grow=True)
    result, simulation = run.result(solver=""), run.simulation
    outcome, lost = "ok", _lost_rows(simulation)
    if simulation.first_diverged_step is not None:
        outcome = "diverged"
    elif lost or result.outcome == "failed":
        outcome = "incomplete" if lost else "failed"
    return {
        "outcome": outcome,
        "reason": result.reason or lost or None,
        "figures": {
            "worlds": simulation.world_count,
            "steps": simulation.step_count,
            "simulated_time": simulation.time,
            **{name: value for name, value in result.figures().items() if name not in _NO_FIGURES},
        },
        "ignored": list(result.ignored),
        **what_ran(simulation, run.notes),  # recorders write their last rows, and note faults, at the end
        "warnings": list(dict.fromkeys(" ".join(str(each.message).split()) for each in noted)),
    }


def _lost_rows(simulation: Simulation) -> str:
    found = [*simulation.recorders.values(), *simulation.plugins.values()]
    return "; ".join(note for each in found if isinstance(each, Recorder) and each.is_incomplete for note in each.notes)
