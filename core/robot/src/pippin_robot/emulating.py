"""`pippin emulate`: a simulation, paced in real time, is the robot to programs that others wrote."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin import ConfigError, Simulation, SimulationConfig
from pippin.arrays import on_host
from pippin.catalog import Catalog
from pippin.studies import current_progress, stopped_between_steps

from .config import ACTING, RobotConfig
from .contract import RobotCommands, RobotPlugin, RobotReadings, RobotServer
from .hand import Hand, Hands
from .pace import Deadlines, RealTime, before_others, percentiles
from .plan import RobotPlan
from .robot_page import PageHand, RobotPage

_CATCHES_UP = 0.1  # longest pause of the machine after which the robot's time is that of the clock again [s]
_SLOW, _FEW = 0.01, 1000  # share of steps left out from which on it is told, and the least number of steps for that

_VOLTS = 12.0
"""Voltage that motors without a supply of their own tell [V]."""


@attrs.frozen(kw_only=True)
class EmulateResult:
    """Outcome of an emulation."""

    address: str
    """How it was reached."""
    seconds: float
    """Time that it was there [s]."""
    rate: float
    """Control steps per second of real time."""
    late: Mapping[str, float]
    """How late steps began, by percentile [s]."""
    dropped: int
    """Steps that were left out, as they were too late."""
    answer: Mapping[str, float]
    """Time from a command to the state that has it, by percentile [s]: a step's computation."""
    scheduler: str
    """What the system granted."""
    counts: Mapping[str, int]
    """Numbers of the server, such as of packets."""


def plugin_of(config: SimulationConfig) -> RobotPlugin:
    """Return the plugin of the table `[robot]`.

    Raises:
        ConfigError: There is no such table.
        PluginError: The plugin cannot be loaded.
    """
    choice = getattr(config, "robot", None)
    if choice is None:
        raise ConfigError("robot: there is no such table; add [robot] with a type and a table for each driven joint")
    return Catalog.installed().find("robot", choice.type).load()(choice.config)


def emulate(
    config: SimulationConfig,
    *,
    duration: float | None = None,
    hand: Hands | None = None,
    calibrated: Path | None = None,
    realtime: RealTime = "try",
    out: Path | None = None,
    ready: Callable[[str], None] | None = None,
) -> EmulateResult:
    """Be the robot of a file until Ctrl-C.

    Args:
        config: The file, with a table `[robot]`. What acts in it, such as motions, is left out.
        duration: Time after which it ends [s]; by default never.
        hand: Moves joints without torque: `sweep` as a calibration needs it, `wave` to and fro, `page` by sliders.
        calibrated: File for LeRobot's calibration, which the motors have then; or its folder, where the file gets the
            name of the port.
        realtime: Whether the system is asked to run it before other programs.
        out: Folder of what the file records; by default the present one.
        ready: Called with the address, once the robot can be reached.

    Raises:
        ConfigError: The file has no robot, or does not fit it.
        RobotFault: The side of the robot ended.
    """
    robot = plugin_of(config)
    left_out = [name for name in ACTING if getattr(config, name, None)]
    progress = current_progress()
    if left_out:
        progress.remark(f"left out, as other programs drive the robot: {', '.join(left_out)}")
    with Simulation(config.with_tables(**dict.fromkeys(left_out)), folder=out) as simulation:
        emulator = Emulator(simulation, robot, hand=hand)
        for note in emulator.server.notes:
            progress.remark(note)
        if calibrated is not None:
            file = emulator.calibrate(calibrated)
            progress.remark(f"the motors' calibration is in {file}; LeRobot's id for it is {file.stem}")
        try:
            return emulator.run(duration, realtime, ready)
        finally:
            emulator.close()


class Emulator:
    """A robot in a simulation.

    Args:
        simulation: One world of one robot.
        robot: The plugin.
        hand: Moves joints without torque.

    Raises:
        ConfigError: They do not fit each other.
    """

    def __init__(self, simulation: Simulation, robot: RobotPlugin, hand: Hands | None = None) -> None:
        config: RobotConfig = robot.config
        self._simulation, self._config = simulation, config
        self.plan = RobotPlan.of(simulation, config)
        self._imu = _imu(simulation, config, self.plan)
        self._faults = [(each, _chosen(each.joints, self.plan)) for each in config.emulate.faults]
        for fault, _ in self._faults:
            if fault.kind not in robot.faults:
                known = ", ".join(robot.faults) or "none"
                raise ConfigError(f"robot.emulate.faults: this robot cannot do {fault.kind!r}; it can do: {known}")
        self.server: RobotServer = robot.serve(self.plan.joints)
        self.readings = RobotReadings(len(self.plan.joints))
        self._hand = None if hand is None else self._hand_of(hand)
        self._limits = {label: on_host(_parameter(group, "effort_limit")).copy() for label, group in self._groups()}
        self._efforts = np.array([joint.effort_limit for joint in self.plan.joints])
        self._settings: dict[tuple[str, str], bytes] = {}
        self._enabled = np.ones(len(self.plan.joints), dtype=bool)
        #: Simulated time since the robot can be reached [s]; steps that are left out do not count.
        self.time: float = 0.0
        self._answers: list[float] = []
        self.measure()

    def calibrate(self, place: Path) -> Path:
        """Give the motors a calibration, write LeRobot's file of it, and return its place.

        Args:
            place: The file, or its folder.

        Raises:
            ConfigError: This robot has none.
        """
        file = place if place.suffix == ".json" else place / f"{Path(getattr(self._config, 'port', 'robot')).name}.json"
        self.server.calibrate(file)
        return file

    def open(self) -> str:
        """Become reachable, and return the address. Kernels are compiled and recorded before anybody can ask."""
        self._simulation.step(3)
        self._simulation.reset()
        self.measure()
        self.server.open(self.readings)
        return self.server.address

    def run(
        self, duration: float | None, realtime: RealTime = "try", ready: Callable[[str], None] | None = None
    ) -> EmulateResult:
        """Be reachable, and step in real time until the end, or until Ctrl-C.

        Args:
            duration: Time after which it ends [s]; None for never.
            realtime: Whether the system is asked to run it before other programs.
            ready: Called with the address, once the robot can be reached.

        Raises:
            RobotFault: The side of the robot ended.
        """
        pace, is_told = Deadlines(self._simulation.control_dt, _CATCHES_UP), False
        with before_others(realtime) as scheduler:
            address = self.open()
            with contextlib.suppress(KeyboardInterrupt), stopped_between_steps() as stop_if_asked:
                if ready is not None:
                    ready(address)
                pace.begin()
                while duration is None or self.time < duration:
                    self.step()
                    pace.wait()
                    self.time += pace.period
                    if not is_told and pace.dropped > _SLOW * max(len(pace.late), _FEW):
                        is_told = self._tell_slowness(pace)
                    stop_if_asked()
        return EmulateResult(
            address=self.server.address,
            seconds=self.time,
            rate=pace.rate,
            late=percentiles(pace.late),
            dropped=pace.dropped,
            answer=percentiles(self._answers),
            scheduler=scheduler,
            counts=self.server.counts(),
        )

    def _tell_slowness(self, pace: Deadlines) -> bool:
        took, total = 1e3 * float(np.median(self._answers)), pace.dropped + len(pace.late)
        current_progress().remark(
            f"the robot is slower than real time: {pace.dropped} of {total} steps were left out; a step of"
            f" {1e3 * pace.period:g} ms takes {took:.2g} ms (median); raise simulation.decimation"
        )
        return True

    def step(self) -> None:
        """Take the commands, step, measure, and tell.

        A state is told when it is computed, which is a step before its time; a command acts from the next step on. In
        the mean over the phases of both programs, a robot is later than its file says by the time that a step takes.
        """
        begin, self.readings.simulated = time.monotonic(), self.time
        commands = self.server.commands(self.readings)
        self._go_wrong(commands)
        self._apply(commands)
        if self._hand is not None:
            had_swept = self._hand.has_swept
            self._move(self._hand.positions(self.readings, self.time, self._enabled, self.server.homings()))
            if self._hand.has_swept and not had_swept:
                current_progress().remark("the hand has moved all joints through their range, and lets go with torque")
        self._simulation.step()
        self.measure()
        self.readings.time, self.readings.simulated = time.monotonic(), self.time + self._simulation.control_dt
        self.server.publish(self.readings)
        self._answers.append(time.monotonic() - begin)

    def measure(self) -> None:
        """Read what the robot measures from the simulation."""
        state, readings, emulated = self._simulation.state, self.readings, self._config.emulate
        readings.position[:] = on_host(state.joint_q)[self.plan.coordinates]
        readings.velocity[:] = on_host(state.joint_qd)[self.plan.dofs]
        readings.temperature[:] = emulated.temperature
        for label, (rows, columns) in self.plan.groups.items():
            group = self._simulation.actuators[label]
            readings.effort[rows] = on_host(group.applied_effort)[0][columns]
            volts, torque = (_parameter_values(group, name, columns) for name in ("voltage", "kt"))
            readings.voltage[rows] = _VOLTS if volts is None else volts
            if torque is not None:
                readings.current[rows] = readings.effort[rows] / torque
        if emulated.voltage is not None:
            readings.voltage[:] = emulated.voltage
        if self._imu is not None:
            outputs = self._imu.outputs
            readings.orientation[:] = on_host(outputs["orientation"].data).reshape(-1)[:4]
            readings.angular_velocity[:] = on_host(outputs["angular_velocity"].data).reshape(-1)[:3]
            readings.acceleration[:] = on_host(outputs["linear_acceleration"].data).reshape(-1)[:3]
        for fault, chosen in self._active():
            if fault.kind == "heat":
                readings.temperature[chosen] = fault.value
            if fault.kind == "sag":
                readings.voltage[chosen] = fault.value

    def close(self) -> None:
        """Be gone, and give the actuators their own limits of effort back."""
        if self._hand is not None:
            self._hand.close()
        self.server.close()
        if not self._simulation.is_closed:
            for label, group in self._groups():
                _parameter(group, "effort_limit").assign(self._limits[label])

    def _hand_of(self, kind: Hands) -> Hand | PageHand:
        if kind != "page":
            return Hand(kind, self.plan.joints)
        return PageHand(RobotPage(self._simulation.config, len(self.plan.joints), has_button=False))

    def _groups(self) -> Any:
        return ((label, self._simulation.actuators[label]) for label in self.plan.groups)

    def _active(self) -> Sequence[tuple[Any, np.ndarray]]:
        return [
            each
            for each in self._faults
            if each[0].start <= self.time < each[0].start + (np.inf if each[0].duration is None else each[0].duration)
        ]

    def _go_wrong(self, commands: RobotCommands) -> None:
        """Let happen what the file says goes wrong now."""
        if not self._faults:
            return
        active = self._active()
        kinds = {fault.kind: fault.value for fault, _ in active}
        if "quit" in kinds:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        self.server.set_faults("silence" in kinds, kinds.get("drop") or 0.0, kinds.get("corrupt") or 0.0)
        over = np.zeros(len(self.plan.joints), dtype=bool)
        for fault, chosen in active:
            over[chosen] |= fault.kind == "overload"
        self.server.set_overload(over)
        commands.enabled = commands.enabled & ~over

    def _apply(self, commands: RobotCommands) -> None:
        """Write commands into the groups of actuators. A motor without torque has its own position as target, so that
        it begins there once it gets torque.
        """
        position = np.where(commands.enabled, commands.position, self.readings.position)
        for label, (rows, columns) in self.plan.groups.items():
            group = self._simulation.actuators[label]
            for name, values in (
                ("position_targets", position),
                ("velocity_targets", commands.velocity),
                ("feedforward", commands.effort),
            ):
                self._write(label, name, lambda group=group, name=name: _targets(group, name), columns, values[rows])
            for name, values in (("kp", commands.kp), ("kd", commands.kd)):
                self._write(label, name, lambda group=group, name=name: _parameter(group, name), columns, values[rows])
            share = commands.effort_share[rows]
            limits = self._limits[label][0][columns]
            most = np.minimum(limits, np.where(share < 1.0, share * self._efforts[rows], np.inf))  # NaN is all
            most = np.where(commands.enabled[rows], most, 0.0)
            self._write(label, "effort_limit", lambda group=group: _parameter(group, "effort_limit"), columns, most)
        self._enabled = commands.enabled

    def _write(
        self, label: str, name: str, find: Callable[[], wp.array], columns: np.ndarray, values: np.ndarray
    ) -> None:
        """Write numbers that changed into an array of a group, shape [1, DOFs]; NaN leaves a number as it is."""
        known, found = self._settings.get((label, name)), values.tobytes()
        if known == found:
            return
        self._settings[label, name] = found
        chosen = ~np.isnan(values)
        if chosen.any():
            array = find()
            whole = on_host(array).copy()
            whole[0, columns[chosen]] = values[chosen]
            array.assign(whole)

    def _move(self, wanted: np.ndarray) -> None:
        """Set joints at rest to positions [rad or m], shape [joints]; NaN leaves a joint alone."""
        chosen = ~np.isnan(wanted)
        if chosen.any():
            self.plan.place(self._simulation, np.nan_to_num(wanted), np.zeros(len(wanted)), chosen)


def _chosen(patterns: Sequence[str], plan: RobotPlan) -> np.ndarray:
    found = [any(re.fullmatch(each, joint.name) for each in patterns) for joint in plan.joints]
    if not any(found):
        raise ConfigError(f"robot.emulate.faults: no joint is called {', '.join(patterns)}; name one of robot.joints")
    return np.array(found)


def _imu(simulation: Simulation, config: RobotConfig, plan: RobotPlan) -> Any:
    """Return the sensor of the robot's inertial unit; None without one."""
    if config.imu is None:
        if plan.is_floating:
            raise ConfigError("robot.imu: this robot has a free base; name the sensor `imu` that stands for its unit")
        return None
    sensor = simulation.sensors.get(config.imu)
    if sensor is None or not {"orientation", "angular_velocity", "linear_acceleration"} <= set(sensor.outputs):
        known = ", ".join(simulation.sensors) or "none"
        raise ConfigError(f"robot.imu: {config.imu!r} is no sensor of type imu in this file; sensors: {known}")
    return sensor


def _targets(group: Any, name: str) -> wp.array:
    try:
        return getattr(group, name)
    except AttributeError as error:
        raise ConfigError(f"robot: a program commands what these actuators do not take; {error}") from error


def _parameter(group: Any, name: str) -> wp.array:
    if name not in group.parameters:
        known = ", ".join(group.parameters)
        raise ConfigError(f"robot: a program sets {name}, which these actuators do not have; they have: {known}")
    return group.get(name)


def _parameter_values(group: Any, name: str, columns: np.ndarray) -> np.ndarray | None:
    return on_host(group.get(name))[0][columns] if name in group.parameters else None
