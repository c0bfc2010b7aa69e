"""The loop of `pippin drive`: read, watch, compute, limit, write, record. No Warp.

Rows are recorded from the first targets on: on its way there, the robot comes from where it lay or leaned.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import attrs
import numpy as np
from pippin.studies import stopped_between_steps

from .contract import DrivenJoint, RobotCommands, RobotDriver, RobotFault, RobotPlugin, RobotReadings
from .drive_log import FAULTS, DriveLog, measured
from .limits import TargetLimits, refuse_readings
from .pace import Deadlines
from .sources import TargetSource

T = TypeVar("T")

_JERK_SPEED, _JERK_ACCELERATION = 1.875, 5.7735
"""Largest speed and acceleration of a way of length 1 in a time of 1, with least jerk."""

_SECOND = 0.5
"""Time in which a second Ctrl-C takes the torque [s]."""


@attrs.define(kw_only=True, eq=False, slots=False)
class DriveLoop:
    """Drives a robot until its targets end, a fault, or Ctrl-C."""

    robot: RobotPlugin
    joints: tuple[DrivenJoint, ...]
    driver: RobotDriver
    source: TargetSource
    limits: TargetLimits
    pace: Deadlines
    groups: Mapping[str, np.ndarray]
    """Places of the joints of each group of actuators."""
    gains: np.ndarray
    """Gains of the positions that are written first, shape [joints]; NaN leaves the robot's."""
    damping: np.ndarray | float = np.nan
    """Gains of the velocities, likewise."""
    is_dry: bool = False
    """Whether nothing is written."""
    log: DriveLog | None = None
    shadow: Any = None
    """A `Shadow`; None without one."""
    page: Any = None
    """A `RobotPage`; None without one."""
    stop_key: Callable[[], bool] = lambda: False
    """Returns whether the user asked for an emergency stop."""
    show: Callable[[str], None] = lambda text: None

    readings: RobotReadings = attrs.field(init=False)
    round_trips: list[float] = attrs.field(factory=list, init=False)
    """Times of reading and writing [s]."""
    lost: int = attrs.field(default=0, init=False)
    """Periods without a reading."""
    is_torque_found: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self.readings = RobotReadings(len(self.joints))
        self._commands, self._sent = RobotCommands(len(self.joints)), np.zeros(len(self.joints))
        self._fresh = self._good = self._trip = self._measured = self._first = 0.0

    def run(self, duration: float | None) -> RobotFault | KeyboardInterrupt | None:
        """Drive, and return what ended it early, with the robot left as its safety says.

        Args:
            duration: Time after the soft start [s]; None to the end of the targets.

        Raises:
            RobotFault: The robot does not answer before it moves, or is where it cannot be.
        """
        with stopped_between_steps() as stop_if_asked:
            self._surely(lambda: self.driver.read(self.readings))
            self._fresh = self._good = time.monotonic()
            refuse_readings(self.readings, self.joints, self.robot.config.safety)
            self.is_torque_found = self._surely(self.driver.has_torque)
            end: RobotFault | KeyboardInterrupt | None = None
            try:
                self._begin()
                self._drive(duration, stop_if_asked)
            except RobotFault as fault:
                end = fault
            except KeyboardInterrupt as stop:
                end = stop
            except BaseException as error:  # such as a full disk: the robot is not left to its last targets
                self._leave(RobotFault(f"{type(error).__name__}: {error}", "error"))
                raise
            self._leave(end)
            return end

    def _begin(self) -> None:
        """Give torque at the measured positions, and check that the targets took them."""
        self._sent = self.readings.position.copy()
        self.limits.begin(self._sent)
        if self.is_dry:
            return
        commands, share = self._commands, self.robot.config.limits.effort
        commands.position[:], commands.kp[:], commands.kd[:] = self._sent, self.gains, self.damping
        commands.effort_share[:] = share if share < 1.0 else np.nan
        self.driver.write(commands)
        commands.kp[:] = commands.kd[:] = commands.effort_share[:] = np.nan
        time.sleep(self.pace.period)
        self._surely(lambda: self.driver.read(self.readings))
        if not self.is_torque_found:
            commands.position[:] = self._sent = self.readings.position.copy()
            self.limits.begin(self._sent)
            self.driver.write(commands)
            self.driver.set_torque(True)
            if not self._surely(self.driver.has_torque):
                raise RobotFault("a motor does not take the torque", "torque")

    def _surely(self, ask: Callable[[], T]) -> T:
        """Return an answer of the robot before it moves: silence may last as long as the watchdog permits."""
        end = time.monotonic() + self.robot.config.safety.watchdog
        while True:
            try:
                return ask()
            except RobotFault as fault:
                if fault.kind != "silence" or time.monotonic() > end:
                    raise

    def _drive(self, duration: float | None, stop_if_asked: Callable[[], None]) -> None:
        safety, period = self.robot.config.safety, self.pace.period
        start, first = self._sent.copy(), self.source.first(self.readings)
        if not np.isfinite(first).all():
            raise RobotFault(f"the first targets are no numbers: {first}", "target")
        first = np.clip(first, self.limits.low, self.limits.high)
        soft = max(1, round(self._soft_start(first - start) / period))
        last = None if duration is None else soft + round(duration / period)
        if self.source.length is not None:
            last = min(last or soft + self.source.length, soft + self.source.length)
        number, late_in_a_row = 0, 0
        self.pace.begin()
        while last is None or number < last:
            late = self.pace.wait()
            stop_if_asked()
            if self.page is not None:
                self.page.refuse_stop()
            if self.stop_key():
                raise RobotFault("emergency stop", "stop")
            is_fresh = self._read(safety.watchdog)
            refuse_readings(self.readings, self.joints, safety)
            if self.page is not None:
                self.page.show(self.readings.position)
            late_in_a_row = late_in_a_row + 1 if late > 0.5 * period and is_fresh else 0
            if late_in_a_row > safety.max_late:
                raise RobotFault(f"{late_in_a_row} periods in a row began late, the last one by {late:.4f} s", "late")
            if number == soft:
                self._first = self._measured
            if number < soft:
                wanted = start + (first - start) * _least_jerk((number + 1) / soft)
            else:
                wanted = self.source.targets(self.readings, number - soft)
            self._write(self._usable(wanted, safety.watchdog), late, is_logged=is_fresh and number >= soft)
            number += 1

    def _soft_start(self, way: np.ndarray) -> float:
        """Return the time of the soft start [s]: longer if limits on speed or acceleration need it."""
        way = np.abs(way)
        by_speed = _JERK_SPEED * way / self.limits.velocity
        by_acceleration = np.sqrt(_JERK_ACCELERATION * way / self.limits.acceleration)
        return float(max(self.robot.config.safety.soft_start, 1.01 * by_speed.max(), 1.01 * by_acceleration.max()))

    def _read(self, watchdog: float) -> bool:
        """Measure; return whether there is a reading. Without one, the last one holds until the watchdog."""
        begin = time.monotonic()
        try:
            self.driver.read(self.readings)
        except RobotFault as fault:
            if fault.kind != "silence":
                raise
            self.lost += 1
            now = time.monotonic()
            if now + self.pace.period + (now - begin) > self._fresh + watchdog:  # the next one would be too late
                raise
            return False
        self._fresh = time.monotonic()
        self._trip = self._fresh - begin
        self._measured = 0.5 * (self._fresh + begin)
        return True

    def _usable(self, wanted: np.ndarray, watchdog: float) -> np.ndarray:
        """Return targets that are numbers: for a while, the last ones in place of others."""
        now = time.monotonic()
        if np.isfinite(wanted).all():
            self._good = now
            return wanted
        if now + self.pace.period > self._good + watchdog:
            names = ", ".join(self.joints[place].name for place in np.flatnonzero(~np.isfinite(wanted)))
            raise RobotFault(f"targets are no numbers for {watchdog:g} s: {names}", "target")
        return self._sent

    def _write(self, wanted: np.ndarray, late: float, *, is_logged: bool) -> None:
        before, begin = self._sent, time.monotonic()
        self._sent = self.limits.apply(wanted, self.readings.position)
        if not self.is_dry:
            self._commands.position[:] = self._sent
            self.driver.write(self._commands)
        end = time.monotonic()
        trip = self._trip + end - begin
        self.round_trips.append(trip)
        predicted = None if self.shadow is None else self.shadow.step(self._sent, self.readings)
        if self.log is not None and is_logged:
            times = {"late": late, "round_trip": trip, "turnaround": end - self._measured}
            self.log.add(self._row(before, times, predicted, 0))

    def _row(self, targets: np.ndarray, times: Mapping[str, float], predicted: Any, fault: int) -> dict[str, Any]:
        """Return a row: a state with the targets that led to it."""
        told = self.driver.rounded(targets)
        row: dict[str, Any] = {"time": self._measured - self._first, **measured(self.readings)}
        row |= {f"actuators/{label}/position_targets": told[places] for label, places in self.groups.items()}
        row |= {"robot/limited": self.limits.acted, "robot/fault": fault, "robot/wall_time": time.time()}
        row |= {f"robot/{name}": value for name, value in times.items()}
        return row if predicted is None else row | {"shadow/position": predicted}

    def _leave(self, end: RobotFault | KeyboardInterrupt | None) -> None:
        """Leave the robot as its safety says, or as it was found; the recording comes after that."""
        if not self.is_dry:
            self._stop(end)
        if self.log is not None and end is not None:
            kind = end.kind if isinstance(end, RobotFault) else "stop"
            code = 1 + FAULTS.index(kind) if kind in FAULTS else 0xFF
            none = dict.fromkeys(("late", "round_trip", "turnaround"), 0.0)
            self.log.add(self._row(self._sent, none, self.readings.position if self.shadow else None, code))

    def _stop(self, end: RobotFault | KeyboardInterrupt | None) -> None:
        if end is None:
            if not self.is_torque_found:
                self.driver.set_torque(False)
            return
        how = self.robot.config.safety.on_fault
        with contextlib.suppress(RobotFault):
            self.driver.stop(how, self.readings.position.copy())
        if isinstance(end, KeyboardInterrupt):
            self.show(f"stopped: {how}; Ctrl-C again within {_SECOND:g} s takes the torque")
            try:
                time.sleep(_SECOND)
            except KeyboardInterrupt:
                with contextlib.suppress(RobotFault):
                    self.driver.stop("limp", self.readings.position.copy())


def _least_jerk(share: float) -> float:
    """Return the share of the way at a share of the time."""
    return share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
