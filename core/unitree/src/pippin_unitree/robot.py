"""Robots of Unitree: the robot's side."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from pippin.studies import current_progress
from pippin_robot import DrivenJoint, RobotCommands, RobotPlugin, RobotReadings, RobotServer
from pippin_ros2.cdr import decode, encode
from pippin_ros2.dds import DdsWire

from . import UnitreeConfig
from .driver import UnitreeDriver
from .messages import messages
from .motors import Motors
from .switcher import CHECK, REQUEST, REQUESTS, RESPONSE, RESPONSES


class Unitree(RobotPlugin):
    """A robot of Unitree."""

    config: UnitreeConfig
    faults = ("silence", "heat", "sag", "quit")
    gain_types = ("pd",)

    def serve(self, joints: Sequence[DrivenJoint]) -> UnitreeServer:
        """Return the robot's side."""
        return UnitreeServer(self.config, Motors(self.config, joints))

    def connect(self, joints: Sequence[DrivenJoint]) -> UnitreeDriver:
        """Return the driver, once the robot has told its state, and no program of its own moves it."""
        return UnitreeDriver(self.config, Motors(self.config, joints))


class UnitreeServer(RobotServer):
    """An emulated robot: it tells `rt/lowstate` after each step, and follows `rt/lowcmd`. Before, `start` holds."""

    def __init__(self, config: UnitreeConfig, motors: Motors) -> None:
        self._config, self._motors = config, motors
        self._state, self._command = motors.state(), motors.command()
        self._commands = RobotCommands(len(motors.rows))
        self._commands.enabled[:] = config.start == "hold"
        self._counts = {"states": 0, "commands": 0, "refused": 0, "requests": 0}
        self._wire: DdsWire | None = None
        self._is_silent = False
        if motors.is_go:
            self._state["head"], self._state["level_flag"] = (0xFE, 0xEF), 0xFF
        else:
            self._state["mode_machine"] = config.mode_machine

    def open(self, readings: RobotReadings) -> None:
        """Join the domain, and tell the first state."""
        motors, wire = self._motors, DdsWire(self._config, messages())
        self._wire = wire
        self._tell = wire.writer("rt/lowstate", motors.state_kind)
        self._take = wire.reader("rt/lowcmd", motors.command_kind, "best-effort")
        self._answer, self._asked = wire.writer(RESPONSES, RESPONSE), wire.reader(REQUESTS, REQUEST)
        self.address = f"{wire.address}: rt/lowstate, rt/lowcmd of a {self._config.robot}"
        self.publish(readings)

    def commands(self, readings: RobotReadings) -> RobotCommands:
        """Follow what was commanded."""
        if self._is_silent:
            return self._commands
        for data in self._take():
            self._counts["commands"] += 1
            try:
                self._command.fill(data)
                self._motors.follow(self._command, self._commands)
            except ValueError as error:
                self._counts["refused"] += 1
                current_progress().remark(f"a command at rt/lowcmd is refused: {error}")
        for data in self._asked():
            self._reply(decode(messages(), REQUEST, data))
        return self._commands

    def publish(self, readings: RobotReadings) -> None:
        """Tell the state."""
        if self._is_silent:
            return
        state, motors = self._state, self._motors
        state["tick"] = int(1e3 * readings.simulated) & 0xFFFFFFFF
        motors.put(state, "motor_state.mode", self._commands.enabled)
        motors.put(state, "motor_state.q", motors.told("q", readings.position))
        motors.put(state, "motor_state.dq", motors.told("dq", readings.velocity))
        motors.put(state, "motor_state.tau_est", motors.told("tau", readings.effort))
        heat = state["motor_state.temperature"].reshape(-1, 1 if motors.is_go else 2)
        heat[motors.rows] = np.clip(np.nan_to_num(readings.temperature), 0, 255)[:, None]
        state["motor_state.temperature"] = heat.reshape(-1)
        volts = np.nan_to_num(readings.voltage)
        if motors.is_go:
            state["power_v"] = volts.max()
        else:
            motors.put(state, "motor_state.vol", volts)
        x, y, z, w = np.nan_to_num(readings.orientation)
        state["imu_state.quaternion"] = w, x, y, z
        state["imu_state.rpy"] = _angles(x, y, z, w)
        state["imu_state.gyroscope"] = np.nan_to_num(readings.angular_velocity)
        state["imu_state.accelerometer"] = np.nan_to_num(readings.acceleration)
        self._tell(state.sealed())
        self._counts["states"] += 1

    def _reply(self, asked: dict[str, Any]) -> None:
        """Answer as a robot that no program of its own moves."""
        self._counts["requests"] += 1
        identity = asked["header"]["identity"]
        data = json.dumps({"form": "0", "name": ""}) if identity["api_id"] == CHECK else ""
        header = {"identity": identity, "status": {"code": 0}}
        if not asked["header"]["policy"]["noreply"]:
            self._answer(encode(messages(), RESPONSE, {"header": header, "data": data}))

    def set_faults(self, is_silent: bool, lost: float, damaged: float) -> None:
        """Let the robot be silent, or no more: it tells and hears nothing."""
        self._is_silent = is_silent

    def counts(self) -> dict[str, int]:
        """Return the numbers of states told, of commands heard, of those refused, and of requests answered."""
        return dict(self._counts)

    def close(self) -> None:
        """Leave the domain."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None


def _angles(x: float, y: float, z: float, w: float) -> tuple[float, float, float]:
    """Return roll, pitch and yaw [rad] of a quaternion."""
    pitch = math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    return roll, pitch, math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
