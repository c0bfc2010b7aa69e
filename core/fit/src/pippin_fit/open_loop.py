"""Open-loop rollouts: control steps whose inputs do not depend on the state, in one call of the solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import Simulation, hookspec
from pippin.arrays import present
from pippin.devices import WARP_LOCK

_INPUTS = ("start_step(plugins:log)", "zero_efforts", "apply_actuators(actuators:")
"""First parts of the names of the operations that set the inputs of the solver."""

_SKIPPED = ("keep_forces", "apply_forces", "eval_fk", "copy_back", "clear_forces", "monitor", "end_step(plugins:log)")
"""Names of other operations that a rollout may skip: the solver reads nothing that they write."""

_READINGS = "update_sensors(sensors:"

_SOLVER = "step_solver(solver)"


class RolloutHooks:
    """The hook of a solver that takes many control steps in one call."""

    @hookspec(firstresult=True)
    def roll_out_solver(
        self,
        solver: newton.solvers.SolverBase,
        state: newton.State,
        control: newton.Control,
        dt: float,
        substep_count: int,
        count: int,
        set_inputs: Callable[[], None],
        worlds: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Advance `worlds`, shape [worlds], of `state` by `count` control steps of `substep_count` substeps of `dt`
        [s], to the bits of as many calls of `step_solver`, and return their `joint_q` and `joint_qd` after each, shape
        [count, worlds, numbers of a world]; None to let the host step. `set_inputs` writes into `control` the inputs
        of the next control step.
        """


class OpenLoopRollout:
    """The rollouts of a simulation whose actuators, sensors and plugins do not read the state.

    Args:
        simulation: The simulation, which has taken a step: its operations are recorded.
        count_step: Counts a control step of the log. May be recorded.
    """

    def __init__(self, simulation: Simulation, count_step: Callable[[], None]) -> None:
        self._simulation = simulation
        #: Writes the inputs of the next control step into `control`; None if the state decides on them.
        self._set_inputs: Callable[[], None] | None = None
        operations, options = simulation.program.operations, simulation.config.simulation
        if _depends_on_state(simulation, [each.name for each in operations]):
            return
        acting = [each for each in operations if each.name.startswith(_INPUTS)]
        calls = [*(each.run for each in acting), count_step]
        if options.capture == "off" or any(each.name in simulation.program.eager_reasons for each in acting):
            self._set_inputs = partial(_call_each, calls)
            return
        with WARP_LOCK, wp.ScopedCapture(device=simulation.device) as capture:
            _call_each(calls)
        self._set_inputs = partial(wp.capture_launch, present(capture.graph))

    def take(self, count: int, worlds: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Take control steps from a state that was just reset.

        Returns:
            `joint_q` and `joint_qd` of the worlds after each, shape [count, worlds, numbers of a world]; None if the
            simulation has to step.
        """
        if self._set_inputs is None:
            return None
        simulation, services = self._simulation, self._simulation.services
        options = simulation.config.simulation
        state = simulation.state
        with WARP_LOCK:
            if services.model_changes.is_waiting:
                services.model_changes.tell()
            found = services.call_hook(
                "roll_out_solver",
                solver=simulation.solver,
                state=state,
                control=simulation.control,
                dt=options.solver_dt,
                substep_count=options.decimation * options.substep_count,
                count=count,
                set_inputs=self._set_inputs,
                worlds=worlds,
            )
        if found is not None:
            simulation.invalidate("joints")
        return found


def _depends_on_state(simulation: Simulation, names: Sequence[str]) -> bool:
    """Return whether a part of a control step reads the state before the solver does, or acts after it."""
    parts: list[Any] = [*simulation.actuators.values(), *simulation.sensors.values(), *simulation.plugins.values()]
    is_open = all(getattr(each, "is_open_loop", False) for each in simulation.actuators.values())
    is_skippable = all(name in (*_SKIPPED, _SOLVER) or name.startswith((*_INPUTS, _READINGS)) for name in names)
    is_watched = any(hasattr(each, hook) for each in parts for hook in ("after_step", "frame"))
    return not is_open or not is_skippable or is_watched or names.count(_SOLVER) != 1


def _call_each(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        call()
