"""Plugin that starts each world from a log, plays the commands, and keeps the motion of the joints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import Binding, ConfigError, hookimpl
from pippin.actuation import Axes, DriveActuator, Lanes

from pippin_fit.config import FitConfig

from .device_commands import DeviceCommands
from .joint_motion import JointMotion
from .kernels import count_step
from .log import Log
from .open_loop import RolloutHooks
from .windows import Window


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
