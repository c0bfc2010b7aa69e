"""The loop of control steps, the program of the next one, and the calls that are refused while another one runs.

The program follows what users changed since the last step; its first step is a check of what the solver declares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

import newton
import numpy as np
from pippin.arrays import present
from pippin.binding import Host, closed
from pippin.devices import WARP_LOCK
from pippin.errors import PluginError, SimulationError
from pippin.state.captured_arrays import CapturedArrays
from pippin.state.checkpoint import Checkpoint
from pippin.state.variants import select_saved
from pippin.validators import whole_number

from .host_schedule import HostSchedule
from .plan import StepPlan
from .program import Program
from .rollout import roll_out


class CurrentProgram:
    """The program of a step, made anew after a change of its callbacks or of its enabled actuators."""

    def __init__(self, plan: StepPlan) -> None:
        self._plan = plan
        self._captured = CapturedArrays({"control": plan.control, "state": plan.states[0]})
        self._is_tried = False
        self._revision, self.program = self._latest_revision, plan.program()

    @property
    def _latest_revision(self) -> int:
        return self._plan.callbacks.revision + self._plan.disabled.revision

    def prepare(self) -> Program:
        """Apply the user's requests since the last step, and return the program.

        Raises:
            PluginError: The first step shows that the solver's declaration is wrong.
            SimulationError: An array of the state or of the inputs was replaced by another one.
        """
        plan = self._plan
        self._captured.refuse_others()
        if self._revision != self._latest_revision:
            self._revision, self.program = self._latest_revision, plan.program()
        if not self._is_tried:
            plan.written.settle()  # an operation that reads `state` would do so in the rehearsal, which changes nothing
            with WARP_LOCK, plan.config.tree.placing():
                if not plan.is_maximal and plan.model.joint_coord_count:  # fixed joints have no coordinates
                    self.program.compiled(partial(_try_claim, plan))
            self._is_tried = True
        self.apply_changes()
        return self.program

    def apply_changes(self) -> None:
        """Apply user writes to the state, and notify the solver of changes of the model."""
        plan = self._plan
        plan.written.settle()
        if plan.model_changes.is_waiting:
            with WARP_LOCK, plan.components.during(plan.components.solver_name, "notify_model_changed"):
                plan.model_changes.tell()

    def roll_out(
        self, count: int, start: newton.State | None, first: int, before_step: Callable[[int], None] | None
    ) -> tuple[newton.State, ...]:
        """Return the states of the next control steps, for a tape. Errors are those of `pippin.Simulation.rollout`."""
        with WARP_LOCK:
            self.apply_changes()
            return roll_out(self._plan, count, start, first, before_step)

    def checkpoint(self, step_count: int) -> Checkpoint:
        """Return a checkpoint of the simulation after some control steps."""
        with WARP_LOCK:
            self.apply_changes()
            flags = self._plan.model_changes.notified_flags
            return self._plan.data.persistent.checkpoint(self._plan.config, step_count, flags)

    def resume(self, checkpoint: Checkpoint, source: str) -> None:
        """Continue from a checkpoint in a simulation that was just built.

        Raises:
            ConfigError: The checkpoint belongs to another simulation or to other versions.
        """
        persistent = self._plan.data.persistent
        with WARP_LOCK:
            if checkpoint.model_changes:
                select_saved(self._plan.model, checkpoint.arrays)
                persistent.restore_model(checkpoint)
                self._plan.model_changes.add(checkpoint.model_changes)
            self.apply_changes()
            if checkpoint.step_count:
                # Solvers allocate some arrays in the first step; the results of this step are overwritten.
                self.prepare().step()
            persistent.restore(checkpoint, source)
            if self._plan.has_hidden_memory:
                self._plan.modified.add(None)


_UNWRITTEN = -1.2345678e9
"""A position that no step writes: a NaN would also be what a singular mass matrix gives."""


def _try_claim(plan: StepPlan) -> None:
    """Check that a solver that declares reduced coordinates writes `joint_q`: take a step and undo it."""
    before = plan.data.snapshot()
    joint_q = present(plan.states[1].joint_q)
    joint_q.fill_(_UNWRITTEN)
    calls = [*plan.collision(plan.states[0], plan.contacts[0])] if plan.source.is_run_by_host else []
    calls.append(plan.solver_step(**plan.solver_arguments(0)))
    trace = plan.components.trace
    with nullcontext() if trace is None else trace.during("rehearsal"):
        for operation in calls:
            operation.run()
    is_unwritten = bool((joint_q.numpy() == np.float32(_UNWRITTEN)).all())
    before.restore()
    if is_unwritten:
        raise PluginError(
            "solver: does not write joint_q, although it claims reduced coordinates;"
            ' declare coordinates = "maximal" on the plugin class, and the host computes joint_q from bodies'
        )


_ALONE = ("step", "rollout", "close")
"""Calls that stand outside of `step`; the others may also stand between two of its control steps."""


class Stepping:
    """The call of the simulation that runs now, from whose hooks and callbacks others are refused."""

    def __init__(self) -> None:
        self._running: str | None = None
        self._is_between = False

    def refuse(self, where: str, *, is_closed: bool) -> None:
        """Refuse a call of the simulation after its end, or in the middle of another call.

        Raises:
            SimulationError: Names the call, and the one that runs.
        """
        if is_closed:
            raise SimulationError(closed(where))
        if self._running is not None and (where in _ALONE or not self._is_between):
            cure = "call it after it" if where in _ALONE else "call it between control steps, as in 'after_step'"
            raise SimulationError(f"{where}: called in the middle of {self._running}, by a hook or callback; {cure}")

    @contextmanager
    def during(self, call: str) -> Iterator[None]:
        """Refuse other calls of the simulation within a block."""
        before = self._running, self._is_between
        self._running, self._is_between = call, False
        try:
            yield
        finally:
            self._running, self._is_between = before

    def step(self, simulation: Host, count: int, current: CurrentProgram, schedule: HostSchedule) -> None:
        """Take control steps, and between them call everybody who is due."""
        left = whole_number(count, "step", error=SimulationError)
        with self.during("step"):
            while left:
                self._is_between = True
                stride = schedule.wait(left)
                self._is_between = False
                program = current.prepare()
                # If nothing runs on the host, all steps are one loop: this saves a percent of the time of small scenes.
                stride = stride if program.leaves_host_alone else 1
                try:
                    program.step(stride, done=simulation.step_count)
                finally:
                    simulation.step_count += program.taken
                left -= stride
                self._is_between = True
                schedule.observe(stride, simulation)
