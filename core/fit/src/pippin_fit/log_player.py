"""Plugin that starts each world from a log, plays its commands and keeps the motion, by steps or in one call."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import Binding, ConfigError, Simulation, hookimpl, hookspec
from pippin.actuation import Axes, DriveActuator, Lanes
from pippin.arrays import on_host, present
from pippin.devices import WARP_LOCK

from pippin_fit.config import FitConfig

from .kernels import count_step, keep_joints, play_commands, restore_numbers
from .log import Log, Window, velocities_of


class DeviceCommands:
    """The commands of all logs, in steps or linear in time, and the place in them where each world starts."""

    def __init__(self, logs: Sequence[Log], windows: Sequence[Window], is_linear: bool, device: wp.Device) -> None:
        begins = np.concatenate([[0], np.cumsum([len(log.command_times) for log in logs])])
        times = np.concatenate([log.command_times - log.times[0] for log in logs])
        of_log = np.array([window.log for window in windows])
        begun = [logs[window.log].times[window.first] - logs[window.log].times[0] for window in windows]
        self._is_linear = is_linear
        self._times = wp.array(times, dtype=wp.float64, device=device)
        self._commands = wp.array(np.concatenate([log.command for log in logs]), dtype=float, device=device)
        self._first = wp.array(begins[of_log], dtype=int, device=device)
        self._last = wp.array(begins[of_log + 1] - 1, dtype=int, device=device)
        self._start = wp.array(np.array(begun), dtype=wp.float64, device=device)
        self._delays = wp.zeros(len(windows), dtype=float, device=device)
        self._offsets = wp.zeros((len(windows), len(logs[0].joints)), dtype=float, device=device)

    def vary(self, delays: np.ndarray, offsets: np.ndarray) -> None:
        """Set the delay of the commands of each world [s], and the reading of its encoders at zero."""
        self._delays.assign(delays.astype(np.float32))
        self._offsets.assign(-offsets.astype(np.float32))

    def write(self, targets: wp.array, columns: wp.array, counts: wp.array, dt: float) -> None:
        """Write the commands of a control step into targets, shape [worlds, lanes]. May be recorded.

        A lane with column -1 gets none. The step of a world may be before its window.
        """
        inputs = [self._times, self._commands, columns, self._first, self._last, self._start, self._delays]
        inputs += [self._offsets, counts, wp.float64(dt), self._is_linear, targets]
        wp.launch(play_commands, targets.shape, inputs, device=targets.device)


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


class JointMotion:
    """Positions and velocities of the joints of logs over a rollout, by their indices, shape [worlds, joints]."""

    def __init__(
        self,
        logs: Sequence[Log],
        windows: Sequence[Window],
        coordinates: np.ndarray,
        dofs: np.ndarray,
        steps: int,
        device: wp.Device,
    ) -> None:
        rates = [velocities_of(log) for log in logs]
        self._measured = np.stack([logs[window.log].signals["position"][window.first] for window in windows])
        self._rates = np.stack([rates[window.log][window.first] for window in windows])
        self._indices = [wp.array(each, dtype=int, device=device) for each in (coordinates, dofs)]
        self._starts = [wp.zeros(dofs.shape, dtype=float, device=device) for _ in range(2)]
        self._rows = [wp.zeros((steps, *dofs.shape), dtype=float, device=device) for _ in range(2)]

    def vary(self, offsets: np.ndarray, shifts: np.ndarray) -> None:
        """Set the readings of the encoders at zero, shape [worlds, joints], and the shifts of the measured positions at
        the start, then of the velocities, shape [worlds, 2 * joints].
        """
        joints = offsets.shape[1]
        self._starts[0].assign((self._measured - offsets + shifts[:, :joints]).astype(np.float32))
        self._starts[1].assign((self._rates + shifts[:, joints:]).astype(np.float32))

    def start(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Write the states at the start into the masked worlds. May be recorded."""
        for values, index, numbers in zip(self._starts, self._indices, (state.joint_q, state.joint_qd), strict=True):
            wp.launch(restore_numbers, index.shape, [world_mask, values, index, numbers], device=world_mask.device)

    def keep(self, state: newton.State, counts: wp.array[wp.int64]) -> None:
        """Keep the state after a control step, the one that `counts` gives for each world. May be recorded."""
        inputs = [state.joint_q, state.joint_qd, *self._indices, counts, *self._rows]
        wp.launch(keep_joints, self._indices[0].shape, inputs, device=counts.device)

    def keep_rollout(self, worlds: np.ndarray, *states: np.ndarray) -> None:
        """Keep `joint_q` and `joint_qd` after all control steps of some worlds, shape [steps, worlds, numbers of a
        world] each; the motion of the others becomes NaN.
        """
        for kept, rows, index in zip(self._rows, states, self._indices, strict=True):
            motion = np.full(kept.shape, np.nan, dtype=np.float32)
            motion[:, worlds] = rows[:, :, on_host(index)[0]]  # the numbers of the first world come first
            kept.assign(motion)

    def arrays(self) -> Mapping[str, np.ndarray]:
        """Return `position` and `velocity` of the joints, shape [steps + 1, worlds, joints], of the last rollout."""
        pairs = zip(("position", "velocity"), self._starts, self._rows, strict=True)
        return {name: np.concatenate([on_host(first)[None], on_host(rows)]) for name, first, rows in pairs}


class LogPlayer:
    """Plays windows of logs with the same joints, one in each world."""

    hookspecs = RolloutHooks

    def __init__(self, config: FitConfig, logs: Sequence[Log], windows: Sequence[Window], steps: int) -> None:
        self._config, self._logs, self._windows, self._steps = config, logs, windows, steps
        #: Labels of the joints of the logs.
        self.joints: tuple[str, ...] = logs[0].joints
        self._axes: dict[int, Axes] = {}

    @hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Find the joints."""
        self._axes[prototype] = Axes.of(builder, [re.escape(label) for label in self.joints])

    @hookimpl
    def bind(self, binding: Binding) -> None:
        """Find the joints, and copy the logs to the device."""
        host = self._host = binding.simulation
        worlds, device = host.world_count, host.device
        lanes = Lanes.of(binding, self._axes)
        order = [lanes.labels.index(label) for label in self.joints]
        dofs, coordinates = lanes.dofs[:, order], lanes.coordinates[:, order]
        is_linear = self._config.interpolation == "linear"
        self._commands = DeviceCommands(self._logs, self._windows, is_linear, device)
        #: The motion of the joints of the logs.
        self.motion: JointMotion = JointMotion(self._logs, self._windows, coordinates, dofs, self._steps, device)
        self._counts = wp.zeros(worlds, dtype=wp.int64, device=device)
        self.vary(np.zeros(worlds), np.zeros(dofs.shape), np.zeros((worlds, 2 * dofs.shape[1])))
        self._targets = self._find_targets()

    def vary(self, delays: np.ndarray, offsets: np.ndarray, shifts: np.ndarray) -> None:
        """Set the numbers of each world that are not in the model: the delay of the commands [s], and those of
        `JointMotion`.
        """
        self._commands.vary(delays, offsets)
        self.motion.vary(offsets, shifts)

    def state_arrays(self) -> Mapping[str, wp.array]:
        """Return the control steps of each world since its reset, shape [worlds]."""
        return {"counts": self._counts}

    @hookimpl
    def initialize_worlds(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Start the masked worlds from the measured state."""
        self.motion.start(state, world_mask)

    @hookimpl
    def start_step(self, dt: float) -> None:
        """Write the commands of the control step."""
        for _, targets, columns in self._targets:
            self._commands.write(targets, columns, self._counts, dt)

    def fill_delays(self) -> None:
        """Fill the delays of actuators with the commands before the windows."""
        decimation, dt = self._host.config.simulation.decimation, self._host.control_dt
        for actuator, targets, columns in self._targets:

            def set_targets(back: int, targets: wp.array = targets, columns: wp.array = columns) -> None:
                counts = wp.full_like(self._counts, -back // decimation)
                self._commands.write(targets, columns, counts, dt)

            if isinstance(actuator, DriveActuator):
                actuator.remember_targets(set_targets)

    @hookimpl
    def end_step(self, state: newton.State) -> None:
        """Keep the motion, and count the control step."""
        self.motion.keep(state, self._counts)
        self.count_step()

    def count_step(self) -> None:
        """Count a control step. May be recorded."""
        wp.launch(count_step, len(self._counts), [self._counts], device=self._counts.device)

    def _find_targets(self) -> list[tuple[Any, wp.array, wp.array]]:
        """Return each actuator, its targets, and the column of the commands for each of its joints; -1 for none."""
        name, found = self._config.command, []
        for actuator in self._host.actuators.values():
            labels = getattr(actuator, "joint_labels", ())
            columns = [self.joints.index(label) if label in self.joints else -1 for label in labels]
            if any(column >= 0 for column in columns) and name not in getattr(actuator, "unread_targets", {}):
                indices = wp.array(columns, dtype=int, device=self._host.device)
                found.append((actuator, getattr(actuator, name), indices))
        if not found:
            raise ConfigError(f"fit.command: no actuator takes {name!r} of the joints of the logs; choose another one")
        return found


class OpenLoopRollout:
    """The rollouts of a simulation whose actuators, sensors and plugins do not read the state. It has taken a step, so
    that its operations are recorded; `count_step`, which may be recorded, counts a control step of the log.
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

        def set_inputs() -> None:
            for call in calls:
                call()

        self._set_inputs = set_inputs
        if options.capture == "off" or any(each.name in simulation.program.eager_reasons for each in acting):
            return
        with WARP_LOCK, wp.ScopedCapture(device=simulation.device) as capture:
            set_inputs()
        self._set_inputs = partial(wp.capture_launch, present(capture.graph))

    def take(self, count: int, worlds: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Take control steps from a state that was just reset, and return `joint_q` and `joint_qd` of the worlds after
        each, shape [count, worlds, numbers of a world]; None if the simulation has to step.
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
    parts: list[Any] = [*simulation.actuators.values(), *simulation.sensors.values(), *simulation.plugins.values()]
    is_open = all(getattr(each, "is_open_loop", False) for each in simulation.actuators.values())
    is_skippable = all(name in (*_SKIPPED, _SOLVER) or name.startswith((*_INPUTS, _READINGS)) for name in names)
    is_watched = any(hasattr(each, hook) for each in parts for hook in ("after_step", "frame"))
    return not is_open or not is_skippable or is_watched or names.count(_SOLVER) != 1
