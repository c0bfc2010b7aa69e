"""Commands of logs on the device, as each world plays them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from .kernels import play_commands
from .log import Log
from .windows import Window


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
