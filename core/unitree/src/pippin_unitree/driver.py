"""The driver of a robot of Unitree: a thread sends the last command, and brakes if nobody gives a new one."""

from __future__ import annotations

import threading
import time

import numpy as np
from pippin_robot import RobotCommands, RobotDriver, RobotFault, RobotReadings
from pippin_ros2.dds import DdsWire

from . import UnitreeConfig
from .messages import messages
from .motors import POSITION_STOP, Motors
from .switcher import refuse_program

_ASK = 3.0
"""Time in which the motion switcher answers [s]."""

_NAP = 1e-3


class UnitreeDriver(RobotDriver):
    """The driver.

    Raises:
        ConfigError: The domain cannot be joined.
        RobotFault: No state comes, or a program of the robot moves it.
    """

    stops = ("hold", "damp", "limp")

    def __init__(self, config: UnitreeConfig, motors: Motors) -> None:
        self._config, self._motors = config, motors
        self._state, self._command = motors.state(), motors.command()
        self._counts = {"states": 0, "commands": 0, "damaged": 0, "braked": 0}
        self._gains = {name: np.full(len(motors.rows), np.nan) for name in ("kp", "kd")}
        self._lock, self._is_over, self._bytes, self._given = threading.Lock(), threading.Event(), b"", 0.0
        self._is_left = False  # in a state that shall last
        self._wire = DdsWire(config, messages())
        try:
            self._take = self._wire.reader("rt/lowstate", motors.state_kind, "best-effort")
            self._tell = self._wire.writer("rt/lowcmd", motors.command_kind)
            self._await(config.wait)
            notes = [] if refuse_program(self._wire, _ASK) else ["the robot has no motion switcher, as a simulation"]
            self._is_on = self._tells_torque()
        except BaseException:
            self._wire.close()
            raise
        if motors.others:
            notes.append(f"motors without a table are off: {', '.join(motors.others)}")
        self.notes = notes
        self._thread = threading.Thread(target=self._repeat, daemon=True)
        self._thread.start()

    def read(self, readings: RobotReadings) -> None:
        """Take the newest state, and wait for one if none has come."""
        self._await(self._config.timeout)
        state, motors = self._state, self._motors
        readings.time = time.monotonic()
        readings.position, readings.velocity, readings.effort = (
            motors.own(path, state[f"motor_state.{path}"][motors.rows].astype(float)) for path in ("q", "dq", "tau_est")
        )
        heat = state["motor_state.temperature"].reshape(-1, 1 if motors.is_go else 2).max(axis=1)
        readings.temperature = heat[motors.rows].astype(float)
        readings.voltage[:] = state["power_v"] if motors.is_go else state["motor_state.vol"][motors.rows]
        readings.orientation[:] = state["imu_state.quaternion"][[1, 2, 3, 0]]
        readings.angular_velocity[:] = state["imu_state.gyroscope"]
        readings.acceleration[:] = state["imu_state.accelerometer"]

    def _await(self, longest: float) -> None:
        end = time.monotonic() + longest
        while not self._receive():
            if time.monotonic() > end:
                raise RobotFault(
                    f"{self._wire.address}: no rt/lowstate of a {self._config.robot} for {longest:g} s;"
                    f" {self._counts['damaged']} were damaged",
                    "silence",
                )
            time.sleep(_NAP)

    def _receive(self) -> bool:
        for data in reversed(self._take()):
            try:
                self._state.fill(data)
            except ValueError:
                self._counts["damaged"] += 1
                continue
            self._counts["states"] += 1
            return True
        return False

    def write(self, commands: RobotCommands) -> None:
        """Give a command, which is sent at once, and again until the next one."""
        for name, gains in self._gains.items():
            new = getattr(commands, name)
            gains[:] = np.where(np.isnan(new), gains, new)
            if np.isnan(gains).any():
                raise RobotFault(f"nobody gave {name}, which these motors need; drive actuators of type `pd`", "gains")
        command, motors, is_given = self._command, self._motors, ~np.isnan(commands.position)
        numbers = {"q": np.where(is_given, motors.told("q", commands.position), POSITION_STOP)}
        numbers |= {"kp": np.where(is_given, self._gains["kp"], 0.0), "kd": self._gains["kd"]}
        for name, values in (("dq", commands.velocity), ("tau", commands.effort)):
            numbers[name] = motors.told(name, np.nan_to_num(values))
        with self._lock:
            for name, values in {"mode": self._is_on, **numbers}.items():
                motors.put(command, f"motor_cmd.{name}", values)
            if not motors.is_go:
                command["mode_machine"] = self._state["mode_machine"]
            self._give()
        self._counts["commands"] += 1

    def _give(self) -> None:
        """Send the command; the watchdog waits for the next one. The lock is held."""
        self._bytes, self._given, self._is_left = self._command.sealed(), time.monotonic(), False
        self._tell(self._bytes)

    def _repeat(self) -> None:
        """Send the last command at an even rate; if it is too old, let the motors brake."""
        while not self._is_over.wait(1.0 / self._config.repeat):
            with self._lock:
                if not self._bytes or self._is_over.is_set():
                    continue
                if time.monotonic() - self._given > self._config.safety.watchdog and not self._is_left:
                    self._counts["braked"] += 1
                    self._is_left = True
                    for name in ("kp", "dq", "tau"):
                        self._motors.put(self._command, f"motor_cmd.{name}", 0.0)
                    self._bytes = self._command.sealed()
                self._tell(self._bytes)

    def set_torque(self, is_on: bool) -> None:
        """Switch the motors on or off, and wait until the robot says so."""
        self._is_on, end = is_on, time.monotonic() + self._config.wait
        while True:
            with self._lock:
                self._motors.put(self._command, "motor_cmd.mode", is_on)
                self._give()
            self._await(self._config.wait)
            if self._tells_torque() == is_on or time.monotonic() > end:
                return

    def _tells_torque(self) -> bool:
        return bool((self._state["motor_state.mode"][self._motors.rows] == 1).all())

    def has_torque(self) -> bool:
        """Return whether all motors say that they are on."""
        self._await(self._config.timeout)
        return self._tells_torque()

    def stop(self, how: str, position: np.ndarray) -> None:
        """Hold the measured positions; or brake by the gain of the velocities; or switch the motors off."""
        commands, nothing = RobotCommands(len(position)), np.zeros(len(position))
        commands.position, commands.kp = position, commands.kp if how == "hold" else nothing
        if how == "limp":
            self._is_on, commands.kd = False, nothing
        self.write(commands)
        self._is_left = True
        time.sleep(5.0 / self._config.repeat)  # a packet can be lost

    def counts(self) -> dict[str, int]:
        """Return the numbers of states and commands, of damaged states, and of brakes by the watchdog."""
        return dict(self._counts)

    def close(self) -> None:
        """Send no more, and leave the domain."""
        if not self._is_over.is_set():
            self._is_over.set()
            self._thread.join()
            self._wire.close()
