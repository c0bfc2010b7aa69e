"""Measured runs: figures and series of a run, taken in the same way with every solver."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.config import SimulationConfig
from pippin.recording.series import Series
from pippin.runs.loop import RunLoop
from pippin.runs.progress import RunProgress
from pippin.runs.simulate import stepped
from pippin.runs.summary import throughput
from pippin.simulation import Simulation

from . import measures
from .comparison import UNITS, SolverRun
from .measures import PenetrationProbe

_SAMPLE_COUNT = 100
"""Largest number of samples of a run; the steps between two samples are timed without a break."""

_UNITS = {"time": "s", "positions": "m", "kinetic_energy": "J", "energy": "J", **UNITS}
"""The measured quantities, with their units."""


class MeasuredRun:
    """A run that is timed and measured.

    Args:
        steps: Control steps. The time of taking samples between them is not counted.
        started: Time at which the run began, in seconds since the epoch.
        folder: Folder for the files of recorders.
        begun: Called after the first step, when all is compiled.
        may_grow: Whether the run starts again with larger buffers if they were full, as `pippin run` does.
    """

    def __init__(
        self,
        config: SimulationConfig,
        steps: int,
        started: float,
        folder: Path | None = None,
        begun: Callable[[], None] = lambda: None,
        *,
        may_grow: bool = False,
    ) -> None:
        self._steps, self._started, self._begun = steps, started, begun
        self._samples: _Samples | None = None
        self._first: float | None = None
        #: The loop of the last start, whose simulation is closed.
        self.loop: RunLoop = stepped(
            config,
            lambda own: Simulation(own, folder=folder),
            self._take,
            RunProgress(),
            may_grow=may_grow,
        )

    def _take(self, loop: RunLoop) -> None:
        simulation = loop.simulation
        self._samples, self._first = _Samples(simulation), None
        initial = simulation.model.state()
        initial.assign(simulation.state)
        try:
            loop.begin()
        finally:
            if simulation.step_count:  # also if its results are not finite
                self._first = time.time() - self._started
                self._begun()
                self._samples.take(initial, 0.0)
        for step in np.unique(np.linspace(1, self._steps, min(self._steps, _SAMPLE_COUNT)).round().astype(int)):
            loop.step_to(int(step))
            self._samples.take(simulation.state, simulation.time)

    def result(self, solver: str, warnings: tuple[str, ...] = ()) -> SolverRun:
        """Return the figures, and how the run ended."""
        loop, simulation, samples = self.loop, self.loop.simulation, self._samples
        speed = throughput(simulation, loop.steps, loop.seconds)
        ran = SolverRun(
            solver=solver,
            outcome="finished" if loop.end is None else "failed",
            reason=None if loop.end is None else str(loop.end),
            ignored=tuple(simulation.ignored_features),
            warnings=warnings,
            is_captured=simulation.program.is_captured,
            first_diverged_step=simulation.first_diverged_step,
            world_steps_per_second=speed["world_steps_per_second"],
            time_to_first_step=self._first,
            series={} if samples is None else samples.series(),
        )
        return ran if samples is None else attrs.evolve(ran, **samples.figures())


class _Samples:
    """Measurements of a run: one row of each quantity per sample."""

    def __init__(self, simulation: Simulation) -> None:
        self._model = simulation.model
        self._has_rotors = "armature" not in simulation.ignored_features
        self._probe: PenetrationProbe | None = None
        self._rows: dict[str, list[Any]] = {}

    def take(self, state: Any, now: float) -> None:
        """Measure a state at a time [s]."""
        model = self._model
        kinetic = measures.kinetic_energy(model, state, has_rotors=self._has_rotors)
        row = {
            "time": now,
            "kinetic_energy": kinetic,
            "energy": kinetic + measures.potential_energy(model, state),
            "angle_limit_violation": measures.limit_violation(model, state, "rad"),
            "length_limit_violation": measures.limit_violation(model, state, "m"),
            "joint_gap": measures.joint_gap(model, state),
            "penetration": self._penetration(state),
            "positions": measures.positions(model, state),
        }
        for name, value in row.items():
            if value is not None:
                self._rows.setdefault(name, []).append(value)

    def _penetration(self, state: Any) -> np.ndarray | None:
        if not self._model.shape_contact_pair_count:
            return None
        self._probe = self._probe or PenetrationProbe(self._model)
        return self._probe.depth(state)

    def figures(self) -> dict[str, float]:
        """Return the largest value of each quantity that is a figure of the result."""
        worst = {name: float(np.max(rows)) for name, rows in self._rows.items() if name in UNITS}
        energy = self._rows.get("energy")
        return worst if energy is None else worst | {"energy_drift": float(np.abs(np.array(energy) - energy[0]).max())}

    def series(self) -> dict[str, Series]:
        """Return the measurements over time, by name."""
        return {name: Series(values=np.array(rows), units=(_UNITS[name],)) for name, rows in self._rows.items()}
