"""Measured runs: figures and series of a run, taken in the same way with every solver."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
from pippin.config import SimulationConfig
from pippin.errors import PippinError
from pippin.profiling.work import ActuatorWork, unmeasured_work
from pippin.recording.series import Series
from pippin.runs.loop import RunLoop
from pippin.runs.simulate import stepped
from pippin.simulation import Simulation
from pippin.studies import RunProgress
from pippin.studies.summary import throughput

from . import measures
from .figures import UNITS, SolverRun
from .measures import PenetrationProbe

_SAMPLE_COUNT = 100
"""Largest number of samples of a run; the steps between two samples are timed without a break."""

_KEPT_MAX = 2**25
"""Size of the states that are kept and measured together [bytes]."""

_STATE = ("body_q", "body_qd", "joint_q", "joint_qd", "particle_q", "particle_qd")
"""What is measured in a state."""

_VIOLATIONS = ("angle_limit_violation", "length_limit_violation")
"""Figures of limits, which do work where they are violated."""

_UNITS = {"time": "s", "positions": "m", "kinetic_energy": "J", "energy": "J", "work": "J", **UNITS}
"""The measured quantities, with their units."""


class MeasuredRun:
    """A run that is timed and measured.

    Args:
        config: The configuration.
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
        self._loop: RunLoop = stepped(
            config, lambda own: Simulation(own, folder=folder), self._take, RunProgress(), may_grow=may_grow
        )

    def _take(self, loop: RunLoop) -> None:
        simulation = loop.simulation
        self._samples, self._first = _Samples(simulation), None
        loop.checks_each_stride = False
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
        simulation.raise_errors()

    @property
    def simulation(self) -> Simulation:
        """The simulation, which is closed."""
        return self._loop.simulation

    @property
    def notes(self) -> Sequence[str]:
        """What is to be known of its start."""
        return self._loop.notes

    def result(self, solver: str, warnings: tuple[str, ...] = ()) -> SolverRun:
        """Return the figures, and how the run ended.

        Args:
            solver: Name of the solver, for the result.
            warnings: Warnings of the run, for the result.
        """
        loop, simulation, samples = self._loop, self._loop.simulation, self._samples
        if samples is not None and simulation.first_diverged_step is not None:
            samples.end = (simulation.first_diverged_step - 0.5) * simulation.control_dt
        speed = throughput(simulation, loop.steps, loop.seconds)
        ran = SolverRun(
            solver=solver,
            outcome="finished" if loop.end is None else "failed",
            reason=None if loop.end is None else _reason(loop.end),
            ignored=tuple(simulation.ignored_features),
            warnings=warnings,
            is_captured=simulation.program.is_captured,
            first_diverged_step=simulation.first_diverged_step,
            world_steps_per_second=speed["world_steps_per_second"],
            time_to_first_step=self._first,
            unmeasured_work=() if samples is None else samples.unmeasured_work,
            series={} if samples is None else samples.series(),
        )
        return ran if samples is None else attrs.evolve(ran, **samples.figures())


def _reason(end: BaseException) -> str:
    """Return what ended a run. No user can interrupt it: the signal goes to the process that has started this one."""
    return str(end) if isinstance(end, PippinError) else f"a plugin raised {type(end).__name__}"


class _Samples:
    """Measurements of a run: one row of each quantity per sample.

    Samples are measured together, in a third of the time; each at once if plugins may change the model.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._model = simulation.model
        self._has_rotors = "armature" not in simulation.ignored_features
        self._room = 0 if {"task", "plugins"} & simulation.config.tables.keys() else _KEPT_MAX
        self._probe: PenetrationProbe | None = None
        #: What does work that nobody knows.
        self.unmeasured_work: tuple[str, ...] = unmeasured_work(simulation)
        is_driven = bool(simulation.config.actuators) and not self.unmeasured_work
        self._work = ActuatorWork(simulation) if is_driven else None
        #: Time from which on samples are of a state that has diverged [s].
        self.end = math.inf
        self._kept: dict[str, list[np.ndarray]] = {}
        self._rows: dict[str, list[np.ndarray]] = {}

    def take(self, state: Any, now: float) -> None:
        """Keep a state at a time [s], and measure what needs a device."""
        row = {name: array.numpy() for name in _STATE if (array := getattr(state, name)) is not None}
        row |= {"time": np.array(now), "penetration": self._penetration(state)}
        row["work"] = None if self._work is None else self._work.until(state)
        for name, value in row.items():
            if value is not None:
                self._kept.setdefault(name, []).append(value.copy())
        if sum(value[0].nbytes * len(value) for value in self._kept.values()) > self._room:
            self._measure()

    def _measure(self) -> None:
        kept = {name: np.array(rows) for name, rows in self._kept.items()}
        if not kept:
            return
        self._kept = {}
        model, count = self._model, len(kept["time"])
        state: Any = SimpleNamespace(**kept)
        kinetic = measures.kinetic_energy(model, state, has_rotors=self._has_rotors)
        rows = {
            "time": kept["time"],
            "kinetic_energy": kinetic,
            "energy": kinetic + measures.potential_energy(model, state),
            "angle_limit_violation": measures.limit_violation(model, state, "rad"),
            "length_limit_violation": measures.limit_violation(model, state, "m"),
            "joint_gap": measures.joint_gap(model, state),
            "penetration": kept.get("penetration"),
            "work": kept.get("work"),
            "positions": measures.positions(model, state),
        }
        for name, values in rows.items():
            if values is not None:
                entries = {"time": 0, "positions": 2}.get(name, 1)  # a model without bodies has the same for all
                shape = count, *values.shape[values.ndim - entries :]
                self._rows.setdefault(name, []).append(np.broadcast_to(values, shape))

    def _penetration(self, state: Any) -> np.ndarray | None:
        if not self._model.shape_contact_pair_count:
            return None
        self._probe = self._probe or PenetrationProbe(self._model)
        return self._probe.depth(state)

    def figures(self) -> dict[str, Any]:
        """Return the largest value of each quantity that is a figure of the result."""
        rows = self._all_rows()
        worst = {name: float(np.max(values)) for name, values in rows.items() if name in UNITS}
        energy = rows.get("energy")
        is_known = not self.unmeasured_work and not any(worst.get(name) for name in _VIOLATIONS)
        if energy is None or not is_known:
            return worst
        change = energy - energy[0] - rows.get("work", 0.0)
        return worst | {"energy_drift": float(np.abs(change).max())}

    def series(self) -> dict[str, Series]:
        """Return the measurements over time, by name."""
        return {name: Series(values=values, units=(_UNITS[name],)) for name, values in self._all_rows().items()}

    def _all_rows(self) -> dict[str, np.ndarray]:
        self._measure()
        rows = {name: np.concatenate(parts) for name, parts in self._rows.items()}
        return {name: values[rows["time"] < self.end] for name, values in rows.items()}
