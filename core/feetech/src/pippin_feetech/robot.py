"""Servos STS3215: the side of the servos, and the driver."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pippin.errors import ConfigError
from pippin_robot.bus import BusPort, BusServer, refuse_ids, refuse_rate
from pippin_robot.contract import Commands, Readings, Robot, RobotDriver, RobotFault, RobotJoint

from . import FeetechConfig, bus

COUNT = 2.0 * math.pi / bus.TURN
"""Angle of a count [rad]."""

MODEL = 777
"""Number of the model STS3215."""

CURRENT = 0.0065
"""Unit of the register of the current [A]."""

KP, KD, KI, MODE, EFFORT, LOCK = 21, 22, 23, 33, 48, 55

_LAST = 15
"""Bytes from the position to the current: position, speed, load, voltage, temperature, and what is between."""

_READING = struct.Struct("<HHHBBxBxxxH")

_FRESH = {0: 3, 1: 10, 7: 0, bus.STATUS_LEVEL: 1, 13: 70, 14: 140, 15: 40, KP: 32, KD: 32, KI: 0, 35: 200, 36: 80}
"""Registers of a new servo that are one byte: firmware, delay, limits of temperature and voltage, gains, overload."""

_OVERLOAD, _HEAT, _VOLTAGE = 32, 4, 1


class Feetech(Robot):
    """A bus of servos STS3215."""

    config: FeetechConfig
    gain_types = ("servo",)
    faults = ("silence", "drop", "corrupt", "heat", "sag", "overload", "quit")

    def __init__(self, config: FeetechConfig) -> None:
        super().__init__(config)
        refuse_ids(config.joints, 253)
        if config.baud not in bus.SPEEDS:
            raise ConfigError(f"robot.baud: servos know {', '.join(map(str, bus.SPEEDS))}, got {config.baud}")

    def serve(self, joints: Sequence[RobotJoint]) -> FeetechServer:
        """Return the servos."""
        _refuse_slides(joints)
        return FeetechServer(self.config, joints)

    def connect(self, joints: Sequence[RobotJoint]) -> FeetechDriver:
        """Return the driver, once every servo has answered."""
        _refuse_slides(joints)
        count = len(joints)
        refuse_rate(self.config, [8 + count, count * (6 + _LAST), 8 + 3 * count])
        return FeetechDriver(self.config)


def _refuse_slides(joints: Sequence[RobotJoint]) -> None:
    for joint in joints:
        if not joint.is_angle:
            raise ConfigError(f"robot.joints.{joint.name}: it slides, and the servo's counts are angles; leave it out")


class Scale:
    """Counts of encoders and positions of joints."""

    def __init__(self, config: FeetechConfig) -> None:
        self._zero = np.array([each.zero for each in config.joints.values()])
        self._sign = np.array([each.sign for each in config.joints.values()])

    def counts(self, position: np.ndarray) -> np.ndarray:
        """Return the counts of encoders within a turn, before the homing offset; NaN becomes zero."""
        counts = np.rint(np.nan_to_num(position) * self._sign / COUNT)
        return (counts.astype(np.int64) + self._zero) % bus.TURN

    def positions(self, counts: np.ndarray) -> np.ndarray:
        """Return the positions nearest to zero [rad] of counts before the homing offset."""
        half = bus.TURN // 2
        return self._sign * ((counts - self._zero + half) % bus.TURN - half) * COUNT

    def speeds(self, counts: np.ndarray) -> np.ndarray:
        """Return the velocities [rad/s] of counts per second; the reverse needs the same factors."""
        return self._sign * counts * COUNT


class FeetechServer(BusServer):
    """Emulated servos."""

    protocol = Path(bus.__file__)

    def __init__(self, config: FeetechConfig, joints: Sequence[RobotJoint]) -> None:
        super().__init__(config, len(joints))
        self._scale, self._joints = Scale(config), joints
        self._limit = np.array([joint.effort_limit for joint in joints])
        for row, each in zip(self.rows, config.joints.values(), strict=True):
            for register, value in _FRESH.items():
                row[register] = value
            row[bus.ID], row[bus.BAUD], row[LOCK] = each.id, bus.SPEEDS.index(config.baud), 1
            _put(row, 3, MODEL)
            _put(row, bus.HIGHEST, bus.TURN - 1)
            _put(row, 16, 1000)
            _put(row, EFFORT, 1000)
        self._commands = Commands(len(joints))
        self._goals: np.ndarray = np.full(len(joints), -1)
        self._gains = np.array([_FRESH[KP]] * len(joints))
        self._is_first = True

    def publish(self, readings: Readings) -> None:
        """Write the registers of what is measured; the program takes the homing offset off."""
        counts = self._scale.counts(readings.position)
        speeds = np.nan_to_num(self._scale.speeds(readings.velocity) / COUNT**2)
        loads = np.nan_to_num(readings.effort / self._limit * 1000.0) * self._scale.speeds(np.ones(len(counts))) / COUNT
        for number, row in enumerate(self.rows):
            told = _READING.pack(
                bus.present(row),
                bus.unsigned(round(speeds[number]), 15),
                bus.unsigned(round(loads[number]), 10),
                min(255, round(10.0 * _known(readings.voltage[number]))),
                min(255, round(_known(readings.temperature[number]))),
                0,
                bus.unsigned(round(_known(readings.current[number]) / CURRENT), 15),
            )
            _put(row, bus.ENCODER, int(counts[number]))
            row[bus.POSITION + 2 : bus.POSITION + 8] = np.frombuffer(told[2:8], dtype=np.uint8)
            row[bus.POSITION + 13 : bus.POSITION + 15] = np.frombuffer(told[13:15], dtype=np.uint8)
            row[bus.ERROR] = self._error(row, readings, number)
        if self._is_first:  # a goal of before the start would move the arm
            self._is_first = False
            for row, count in zip(self.rows, counts, strict=True):
                _put(row, bus.GOAL, int(count))

    def exchange(self, readings: Readings) -> Commands:
        """Publish, and return the goals within the servos' limits, their torque, and gains that a client changed."""
        self.refuse_end()
        self.publish(readings)
        rows, commands = self.rows, self._commands
        modes = rows[:, MODE]
        if modes.any():
            number = int(np.flatnonzero(modes)[0])
            name = self._joints[number].name
            raise RobotFault(f"{name}: register 33 asks for mode {modes[number]}; only 0, positions, is emulated", "mode")
        low, high, goals = (_numbers(rows, place) for place in (bus.LOWEST, bus.HIGHEST, bus.GOAL))
        goals = np.where(goals & 0x8000, -(goals & 0x7FFF), goals)
        goals = np.where(high > low, np.clip(goals, low, high), goals)
        offsets = _numbers(rows, bus.OFFSET)
        offsets = np.where(offsets & 0x800, -(offsets & 0x7FF), offsets & 0x7FF)
        commands.enabled = rows[:, bus.TORQUE] == 1
        commands.position = self._scale.positions(goals + offsets)
        gains = rows[:, KP].astype(int)
        commands.kp = np.where(gains != self._gains, gains, np.nan)
        self._gains = gains
        commands.effort_share = np.clip(np.minimum(_numbers(rows, EFFORT), _numbers(rows, 16)) / 1000.0, 0.0, 1.0)
        return commands

    def _error(self, row: np.ndarray, readings: Readings, number: int) -> int:
        error = _HEAT if _known(readings.temperature[number]) > row[13] else 0
        voltage = 10.0 * _known(readings.voltage[number])
        error |= 0 if row[15] <= voltage <= row[14] else _VOLTAGE
        return error | (int(row[bus.ERROR]) & _OVERLOAD)

    def set_overload(self, chosen: np.ndarray) -> None:
        """Let servos tell an overload, or no more; boolean, shape [joints]."""
        for row, is_over in zip(self.rows, chosen, strict=True):
            row[bus.ERROR] = (int(row[bus.ERROR]) & ~_OVERLOAD) | (_OVERLOAD if is_over else 0)

    def calibrate(self, file: Path | None) -> dict[str, Any]:
        """Give each servo the offset and the limits of a calibration of its joint's whole range, and return LeRobot's
        file of it, which is written too.
        """
        table: dict[str, Any] = {}
        for number, (joint, row) in enumerate(zip(self._joints, self.rows, strict=True)):
            ends = np.full((2, len(self._joints)), np.nan)
            ends[:, number] = joint.lower, joint.upper
            if not np.isfinite(ends[:, number]).all():
                raise ConfigError(f"--calibrated: {joint.name} has no limits; give it some in the robot's file")
            middle = np.full(len(self._joints), 0.5 * (joint.lower + joint.upper))
            offset = int(self._scale.counts(middle)[number]) - (bus.MIDDLE - 1)
            low, high = sorted((int(self._scale.counts(end)[number]) - offset) % bus.TURN for end in ends)
            _put(row, bus.OFFSET, bus.unsigned(offset, 11))
            _put(row, bus.LOWEST, low)
            _put(row, bus.HIGHEST, high)
            table[joint.name] = {
                "id": int(row[bus.ID]),
                "drive_mode": 0,
                "homing_offset": offset,
                "range_min": low,
                "range_max": high,
            }
            _put(row, bus.GOAL, bus.present(row))
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(table, indent=4) + "\n", encoding="utf-8")
        return table


class FeetechDriver(RobotDriver):
    """The driver of a bus of servos.

    Raises:
        ConfigError: The port is not there, or another program has it; or the calibration is another one.
        RobotFault: A servo does not answer, or is another model.
    """

    stops = ("hold", "damp", "limp")

    def __init__(self, config: FeetechConfig) -> None:
        self._config, self._scale = config, Scale(config)
        self._ids = [each.id for each in config.joints.values()]
        self._names = dict(zip(self._ids, config.joints, strict=True))
        self._port = BusPort(config)
        self._kp = np.full(len(self._ids), np.nan)
        self._share = np.full(len(self._ids), np.nan)
        try:
            for number, model in zip(self._ids, self._words(3), strict=True):
                if model != MODEL:
                    raise RobotFault(f"{self._names[number]}: id {number} is model {model}, not {MODEL}", "model")
            offsets = self._words(bus.OFFSET)
            self._offset = np.array([bus.signed(each & 0xFFF, 11) for each in offsets])
            self._refuse_calibration()
        except BaseException:
            self._port.close()
            raise

    def _refuse_calibration(self) -> None:
        if self._config.calibration is None:
            return
        path = Path(self._config.calibration)
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
            wanted = [
                tuple(int(table[name][key]) for key in ("homing_offset", "range_min", "range_max"))
                for name in self._names.values()
            ]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ConfigError(f"robot.calibration: '{path}' is no calibration of these servos: {error!r}") from error
        found = zip(self._offset, self._words(bus.LOWEST), self._words(bus.HIGHEST), strict=True)
        for name, own, servo in zip(self._names.values(), wanted, found, strict=True):
            if own != tuple(int(each) for each in servo):
                raise ConfigError(
                    f"robot.calibration: '{path}' has offset and limits {list(own)} for {name}, and the servo"
                    f" {[int(each) for each in servo]}; calibrate again, or name its file"
                )

    def read(self, readings: Readings) -> None:
        """Measure all servos by one packet."""
        rows = self._read(bus.POSITION, _LAST)
        for number, data in enumerate(rows):
            position, speed, load, voltage, temperature, _, current = _READING.unpack(data)
            readings.position[number] = bus.signed(position, 15)
            readings.velocity[number] = bus.signed(speed, 15)
            readings.effort[number] = bus.signed(load, 10) / 1000.0
            readings.voltage[number], readings.temperature[number] = 0.1 * voltage, temperature
            readings.current[number] = bus.signed(current, 15) * CURRENT
        readings.position = self._scale.positions(readings.position + self._offset)
        readings.velocity = self._scale.speeds(readings.velocity)
        readings.effort = np.full(len(rows), np.nan)  # a share of the duty, and no torque

    def write(self, commands: Commands) -> None:
        """Write goals by one packet, and gains and shares of the effort that changed."""
        counts = self._scale.counts(commands.position)
        goals = [bus.unsigned(int(each), 15) for each in (counts - self._offset) % bus.TURN]
        self._write(bus.GOAL, [struct.pack("<H", goal) for goal in goals], ~np.isnan(commands.position))
        changed = ~np.isnan(commands.kp) & (commands.kp != self._kp)
        if changed.any():
            self._write(KP, [bytes([round(_known(each))]) for each in commands.kp], changed)
            self._kp = np.where(changed, commands.kp, self._kp)
        changed = ~np.isnan(commands.effort_share) & (commands.effort_share != self._share)
        if changed.any():
            self._write(EFFORT, [struct.pack("<H", round(1000 * _known(each))) for each in commands.effort_share], changed)
            self._share = np.where(changed, commands.effort_share, self._share)

    def set_torque(self, is_on: bool) -> None:
        """Write the register of the torque of all servos."""
        self._write(bus.TORQUE, [bytes([is_on])] * len(self._ids))

    def has_torque(self) -> bool:
        """Return whether all servos say that they have torque."""
        return all(data[0] == 1 for data in self._read(bus.TORQUE, 1))

    def stop(self, how: str, position: np.ndarray) -> None:
        """Hold the measured positions; or brake by the motors' own resistance, with a gain of zero; or be free."""
        commands = Commands(len(self._ids))
        commands.position = position
        commands.kp = np.zeros(len(self._ids)) if how == "damp" else commands.kp
        for _ in range(3):  # nobody answers, and a packet can be lost
            if how == "limp":
                self.set_torque(False)
            else:
                self._kp[:] = np.nan
                self.write(commands)

    def counts(self) -> dict[str, int]:
        """Return the numbers of packets."""
        return dict(self._port.counted)

    def close(self) -> None:
        """Let go of the port."""
        self._port.close()

    def _words(self, register: int) -> list[int]:
        return [struct.unpack("<H", data)[0] for data in self._read(register, 2)]

    def _read(self, register: int, size: int) -> list[bytes]:
        """Return the bytes of a register of every servo."""

        def parse(data: bytes) -> list[bytes] | None:
            packets, wrong, _ = bus.split(data)
            if wrong:
                raise ValueError("damaged")
            found = {address: (error, values) for address, error, values in packets if len(values) == size}
            if len(found) < len(self._ids):
                return None
            if set(found) != set(self._ids):
                raise ValueError("others answer")
            for address, (error, _) in found.items():
                if error & _OVERLOAD:
                    raise RobotFault(f"{self._names[address]}: the servo tells an overload", "overload")
            return [found[address][1] for address in self._ids]

        question = bus.packet(bus.EVERYONE, bus.SYNC_READ, bytes([register, size, *self._ids]))
        return self._port.ask(question, parse, f"a question for register {register} of ids {self._ids}")

    def _write(self, register: int, values: Sequence[bytes], chosen: np.ndarray | None = None) -> None:
        rows = [
            bytes([address, *value])
            for number, (address, value) in enumerate(zip(self._ids, values, strict=True))
            if chosen is None or chosen[number]
        ]
        if rows:
            head = bytes([register, len(values[0])])
            self._port.tell(bus.packet(bus.EVERYONE, bus.SYNC_WRITE, head + b"".join(rows)))


def _known(value: float) -> float:
    return 0.0 if math.isnan(value) else float(value)


def _put(row: np.ndarray, place: int, value: int) -> None:
    row[place : place + 2] = np.frombuffer(struct.pack("<H", value), dtype=np.uint8)


def _numbers(rows: np.ndarray, place: int) -> np.ndarray:
    """Return a register of two bytes of all servos, shape [servos]."""
    return rows[:, place].astype(np.int64) + 256 * rows[:, place + 1].astype(np.int64)
