"""The plugin that starts each world from a log, plays the commands, and keeps the motion of the joints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.actuation.drive import DriveActuator
from pippin.actuation.joints import Axes
from pippin.actuation.parameters import Lanes
from pippin.arrays import on_host
from pippin.binding import Binding
from pippin.config.fit import FitConfig
from pippin.errors import ConfigError
from pippin.hookspecs import hookimpl
from pippin.step.kernels import count_step, restore_numbers

from .kernels import keep_joints, play_commands
from .log import Log, velocities_of
from .open_loop import RolloutHooks
from .windows import Window


class LogPlayer:
    """Plays windows of logs, one in each world.

    Args:
        config: The table `[fit]`.
        logs: The logs; all have the same joints.
        windows: The window of each world.
        steps: Control steps of a rollout.
    """

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
        self._dofs, self._coordinates = (wp.array(each, dtype=int, device=device) for each in (dofs, coordinates))
        begins = np.concatenate([[0], np.cumsum([len(log.command_times) for log in self._logs])])
        times = np.concatenate([log.command_times - log.times[0] for log in self._logs])
        self._times = wp.array(times, dtype=wp.float64, device=device)
        self._commands = wp.array(np.concatenate([log.command for log in self._logs]), dtype=float, device=device)
        of_log = np.array([window.log for window in self._windows])
        self._first = wp.array(begins[of_log], dtype=int, device=device)
        self._last = wp.array(begins[of_log + 1] - 1, dtype=int, device=device)
        starts = [(self._logs[window.log], window.first) for window in self._windows]
        begun = [log.times[first] - log.times[0] for log, first in starts]
        self._start = wp.array(np.array(begun), dtype=wp.float64, device=device)
        self._measured = np.stack([log.signals["position"][first] for log, first in starts])
        rates = [velocities_of(log) for log in self._logs]
        self._rates = np.stack([rates[window.log][window.first] for window in self._windows])
        self._start_q, self._start_qd, self._offsets = (
            wp.zeros(dofs.shape, dtype=float, device=device) for _ in range(3)
        )
        self._delays = wp.zeros(worlds, dtype=float, device=device)
        self._counts = wp.zeros(worlds, dtype=wp.int64, device=device)
        shape = (self._steps, *dofs.shape)
        self._positions, self._velocities = (wp.zeros(shape, dtype=float, device=device) for _ in range(2))
        self.vary(np.zeros(worlds), np.zeros(dofs.shape), np.zeros((worlds, 2 * dofs.shape[1])))
        self._targets = self._find_targets()

    def vary(self, delays: np.ndarray, offsets: np.ndarray, shifts: np.ndarray) -> None:
        """Set what differs between worlds.

        Args:
            delays: Delay of the commands [s], shape [worlds].
            offsets: What encoders read at zero, shape [worlds, joints].
            shifts: Shifts of the measured positions at the start, then of the velocities, shape [worlds, 2 * joints].
        """
        joints = len(self.joints)
        self._delays.assign(delays.astype(np.float32))
        self._offsets.assign(-offsets.astype(np.float32))
        self._start_q.assign((self._measured - offsets + shifts[:, :joints]).astype(np.float32))
        self._start_qd.assign((self._rates + shifts[:, joints:]).astype(np.float32))

    def motion(self) -> Mapping[str, np.ndarray]:
        """Return `position` and `velocity` of the joints, shape [steps + 1, worlds, joints], of the last rollout."""
        starts = {"position": (self._start_q, self._positions), "velocity": (self._start_qd, self._velocities)}
        return {
            name: np.concatenate([on_host(first)[None], on_host(others)]) for name, (first, others) in starts.items()
        }

    def keep(self, worlds: np.ndarray, joint_q: np.ndarray, joint_qd: np.ndarray) -> None:
        """Keep the joints of some worlds in all control steps of a rollout, shape [steps, worlds, numbers of a world];
        those of the others are not known.
        """
        for kept, rows, index in (
            (self._positions, joint_q, self._coordinates),
            (self._velocities, joint_qd, self._dofs),
        ):
            motion = np.full(kept.shape, np.nan, dtype=np.float32)
            motion[:, worlds] = rows[:, :, on_host(index)[0]]  # the numbers of the first world come first
            kept.assign(motion)

    def state_arrays(self) -> Mapping[str, wp.array]:
        """Return the control steps of each world since its reset, shape [worlds]."""
        return {"counts": self._counts}

    @hookimpl
    def initialize_worlds(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Start the masked worlds from the measured state."""
        for values, index, numbers in (
            (self._start_q, self._coordinates, state.joint_q),
            (self._start_qd, self._dofs, state.joint_qd),
        ):
            wp.launch(restore_numbers, index.shape, [world_mask, values, index, numbers], device=world_mask.device)

    @hookimpl
    def start_step(self, dt: float) -> None:
        """Write the commands of the control step."""
        for _, targets, columns in self._targets:
            self._write(targets, columns, self._counts, dt)

    def _write(self, targets: wp.array, columns: wp.array, counts: wp.array, dt: float) -> None:
        """Write the commands of a control step, which may be before the window."""
        inputs = [self._times, self._commands, columns, self._first, self._last, self._start, self._delays]
        inputs += [self._offsets, counts, wp.float64(dt), self._config.interpolation == "linear", targets]
        wp.launch(play_commands, targets.shape, inputs, device=targets.device)

    def fill_delays(self) -> None:
        """Let the delays of actuators start with the commands before the windows."""
        decimation, dt = self._host.config.simulation.decimation, self._host.control_dt
        for actuator, targets, columns in self._targets:

            def set_targets(back: int, targets: wp.array = targets, columns: wp.array = columns) -> None:
                counts = wp.full_like(self._counts, -back // decimation)
                self._write(targets, columns, counts, dt)

            if isinstance(actuator, DriveActuator):
                actuator.remember_targets(set_targets)

    @hookimpl
    def end_step(self, state: newton.State) -> None:
        """Keep the motion, and count the control step."""
        inputs = [state.joint_q, state.joint_qd, self._coordinates, self._dofs, self._counts]
        inputs += [self._positions, self._velocities]
        wp.launch(keep_joints, self._dofs.shape, inputs, device=self._dofs.device)
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
