"""Joints of a file and motors of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pippin import ConfigError, did_you_mean
from pippin_robot import DrivenJoint, RobotCommands

from . import UnitreeConfig
from .layout import Layout, Record
from .messages import messages, motors, package

POSITION_STOP, VELOCITY_STOP = 2.146e9, 16000.0
"""Numbers that stand for no position and no velocity."""


class Motors:
    """Places of the joints of a robot among its motors."""

    def __init__(self, config: UnitreeConfig, joints: Sequence[DrivenJoint]) -> None:
        for joint in joints:
            if not joint.is_angle:
                raise ConfigError(f"robot.joints.{joint.name}: it slides, and these motors turn; leave it out")
        known, family = motors(config.robot), package(config.robot)
        places: dict[str, str] = {}
        for name, each in config.joints.items():
            motor = each.motor or name.removesuffix("_joint")
            if motor not in known:
                raise ConfigError(
                    f"robot.joints.{name}.motor: a {config.robot} has no motor {motor!r}{did_you_mean(motor, known)};"
                    f" it has: {', '.join(known)}"
                )
            if motor in places:
                raise ConfigError(f"robot.joints.{name}.motor: {places[motor]} has {motor!r}, too; name another motor")
            places[motor] = name
        #: Places of the joints' motors, shape [joints].
        self.rows: np.ndarray = np.array([known.index(motor) for motor in places])
        #: Motors without a joint.
        self.others: list[str] = [motor for motor in known if motor not in places]
        self.names, self.is_go = list(config.joints), family == "unitree_go"
        #: Names of the messages.
        self.state_kind, self.command_kind = f"{family}/LowState", f"{family}/LowCmd"
        self._sign = np.array([float(each.sign) for each in config.joints.values()])
        self._zero = np.array([each.zero for each in config.joints.values()])

    def state(self) -> Record:
        """Return an empty `LowState`."""
        return Record(Layout(messages(), self.state_kind))

    def command(self) -> Record:
        """Return a `LowCmd` that commands nothing: all motors are off."""
        record = Record(Layout(messages(), self.command_kind))
        record["motor_cmd.q"], record["motor_cmd.dq"] = POSITION_STOP, VELOCITY_STOP
        if self.is_go:
            record["head"], record["level_flag"] = (0xFE, 0xEF), 0xFF
        return record

    def put(self, record: Record, path: str, values: Any) -> None:
        """Write numbers of the joints, in their order."""
        whole = record[path]
        whole[self.rows] = values
        record[path] = whole

    def told(self, path: str, values: np.ndarray) -> np.ndarray:
        """Return positions (path `q`), velocities or efforts as messages have them."""
        return self._sign * values + (self._zero if path == "q" else 0.0)

    def own(self, path: str, values: np.ndarray) -> np.ndarray:
        """Return positions (path `q`), velocities or efforts of messages as the file has them."""
        return self._sign * (values - (self._zero if path == "q" else 0.0))

    def follow(self, record: Record, commands: RobotCommands) -> None:
        """Copy a `LowCmd` into commands, or raise a ValueError that says what is wrong, and change nothing."""
        fields = {name: record[f"motor_cmd.{name}"][self.rows].astype(float) for name in ("q", "dq", "tau", "kp", "kd")}
        modes = record["motor_cmd.mode"][self.rows]
        if not self.is_go and record["mode_pr"][0]:
            raise ValueError(f"mode_pr is {record['mode_pr'][0]}; only 0, joints in series, is emulated")
        self._refuse(modes > 1, "mode", modes, "0, off, or 1, on")
        for name, values in fields.items():
            self._refuse(~np.isfinite(values), name, values, "a number")
        for name, gain, stop in (("q", "kp", POSITION_STOP), ("dq", "kd", VELOCITY_STOP)):
            is_none = np.abs(fields[name]) >= 0.999 * stop
            self._refuse(is_none & (fields[gain] != 0.0), name, fields[name], f"a target, or {gain} = 0")
            fields[name] = np.where(is_none, np.nan, fields[name])
        commands.enabled = modes == 1
        commands.position, commands.velocity = self.own("q", fields["q"]), self.own("dq", fields["dq"])
        commands.effort, commands.kp, commands.kd = self.own("tau", fields["tau"]), fields["kp"], fields["kd"]

    def _refuse(self, is_wrong: np.ndarray, field: str, values: np.ndarray, wanted: str) -> None:
        if is_wrong.any():
            row = int(np.flatnonzero(is_wrong)[0])
            raise ValueError(f"{field} of {self.names[row]} is {values[row]:g}; give {wanted}")
