"""The simulation that a page shows, or the playback of a recording in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import newton
import numpy as np
from pippin import SimulationConfig


class ViewedSimulation(Protocol):
    """The attributes of a simulation that a page reads; `pippin.Simulation` and `Playback` have them."""

    config: SimulationConfig
    """The configuration."""
    model: newton.Model
    """Newton's model of all worlds."""
    program: Any
    """The operations of a control step, which tell whether they are captured; None for a recording."""

    @property
    def state(self) -> newton.State:
        """The state to show."""
        ...

    @property
    def contacts(self) -> newton.Contacts | None:
        """The contacts of the last detection; None if there are none to show."""
        ...

    @property
    def observables(self) -> newton.solvers.SolverBase.Observables | None:
        """The reports of the solver; None if there are none."""
        ...

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        ...

    @property
    def step_count(self) -> int:
        """Control steps so far."""
        ...

    @property
    def control_dt(self) -> float:
        """Length of a control step [s]."""
        ...

    @property
    def world_count(self) -> int:
        """The number of worlds."""
        ...

    @property
    def first_diverged_step(self) -> int | None:
        """The first control step with a diverged state; None if there is none."""
        ...

    def reset(self, worlds: Sequence[int] | np.ndarray | None = None) -> None:
        """Go back to the start, in some worlds or in all."""
        ...
