"""Servos STS3215: the side of the servos, and the driver."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pippin import ConfigError
from pippin_robot import DrivenJoint, RobotCommands, RobotFault, RobotPlugin, RobotReadings
from pippin_robot.bus import refuse_ids, refuse_rate
from pippin_robot.motors import MotorDriver, MotorServer, field, put, refuse_slides

from . import FeetechConfig, bus

MODEL = 777
"""Number of the model STS3215."""

CURRENT = 0.0065
"""Unit of the register of the current [A]."""

KP, KD, KI, MODE, EFFORT, LOCK = 21, 22, 23, 33, 48, 55

_ACCELERATION, _SPEED = 41, 46
"""Registers of the acceleration [100 counts/s²] and of the speed [counts/s] of the way to a goal."""

_LAST = 15
"""Bytes from the position to the current: position, speed, load, voltage, temperature, and what is between."""

_READING = struct.Struct("<HHHBBxBxxxH")

_FRESH = {
    0: 3,
    1: 10,
    7: 0,
    bus.STATUS_LEVEL: 1,
    13: 70,
    14: 140,
    15: 40,
    KP: 32,
    KD: 32,
    KI: 0,
    (PROTECTIVE := 34): 20,
    (PATIENCE := 35): 200,
    (MOST_LOAD := 36): 80,
}
"""Registers of a new servo that are one byte: firmware, delay, limits of temperature and voltage, gains, and of its
protection: torque when it is overloaded [%], time until then [10 ms], and the load that counts [%]."""

_OVERLOAD, _HEAT, _VOLTAGE = 32, 4, 1

_CURRENT = 69
"""Register of the current."""


class Feetech(RobotPlugin):
    """A bus of servos STS3215."""

    config: FeetechConfig
    gain_types = ("servo",)
    faults = ("silence", "drop", "corrupt", "heat", "sag", "overload", "quit")

    def __init__(self, config: FeetechConfig) -> None:
        super().__init__(config)
        refuse_ids(config.joints, 253)
        if config.baud not in bus.SPEEDS:
            raise ConfigError(f"robot.baud: servos know {', '.join(map(str, bus.SPEEDS))}, got {config.baud}")

    def serve(self, joints: Sequence[DrivenJoint]) -> FeetechServer:
        """Return the servos."""
        refuse_slides(joints)
        return FeetechServer(self.config, joints)

    def connect(self, joints: Sequence[DrivenJoint]) -> FeetechDriver:
        """Return the driver, once every servo has answered."""
        refuse_slides(joints)
        count = len(joints)
        refuse_rate(self.config, [8 + count, count * (6 + _LAST), 8 + 3 * count])
        return FeetechDriver(self.config, bus.TURN)


class FeetechServer(MotorServer):
    """Emulated servos."""

    protocol = Path(bus.__file__)

    def __init__(self, config: FeetechConfig, joints: Sequence[DrivenJoint]) -> None:
        super().__init__(config, joints, bus.TURN)
        self._limit = np.array([joint.effort_limit for joint in joints])
        for row, each in zip(self.rows, config.joints.values(), strict=True):
            for register, value in _FRESH.items():
                row[register] = value
            row[bus.ID], row[bus.BAUD], row[LOCK] = each.id, bus.SPEEDS.index(config.baud), 1
            put(row, 3, "<H", MODEL)
            put(row, bus.HIGHEST, "<H", bus.TURN - 1)
            put(row, 16, "<H", 1000)
            put(row, EFFORT, "<H", 1000)
        self._commands = RobotCommands(len(joints))
        self._goals: np.ndarray = np.full(len(joints), -1)
        self._gains = np.array([_FRESH[KP]] * len(joints))
        self._told = self._protected = np.zeros(len(joints), dtype=bool)
        self._loads = self._strained = np.zeros(len(joints))
        self._seen = 0.0
        self._is_first = True
        self._targets = self._rates = np.zeros(len(joints))
        self._time = 0.0

    def publish(self, readings: RobotReadings) -> None:
        """Write the registers of what is measured; the program takes the homing offset off."""
        rows = self.rows
        loads = _cut(self.encoders.signed(readings.effort / self._limit * 1000.0))
        volts, heat = _cut(10.0 * readings.voltage, 255), _cut(readings.temperature, 255)
        field(rows, bus.ENCODER, "<u2")[:] = self.encoders.counts(readings.position) % bus.TURN
        field(rows, bus.POSITION + 2, "<u2")[:] = _with_sign(_cut(self.encoders.rates(readings.velocity)), 15)
        field(rows, bus.POSITION + 4, "<u2")[:] = _with_sign(loads, 10)
        rows[:, bus.POSITION + 6], rows[:, bus.POSITION + 7] = volts, heat
        field(rows, _CURRENT, "<u2")[:] = _with_sign(_cut(readings.current / CURRENT), 15)
        out = (volts < rows[:, 15]) | (volts > rows[:, 14])
        over = self._told | self._protected
        rows[:, bus.ERROR] = _OVERLOAD * over | _HEAT * (heat > rows[:, 13]) | _VOLTAGE * out
        if self._is_first:  # a goal of before the start would move the arm
            self._is_first = False
            for row in self.rows:
                put(row, bus.GOAL, "<H", bus.present(row))

    def commands(self, readings: RobotReadings) -> RobotCommands:
        """Return the goals within the servos' limits, as far as speed and acceleration reach, the torque,
        and gains that a client changed.
        """
        self.refuse_end()
        rows, commands = self.rows, self._commands
        modes = rows[:, MODE]
        if modes.any():
            number = int(np.flatnonzero(modes)[0])
            name = self.joints[number].name
            raise RobotFault(
                f"{name}: register 33 asks for mode {modes[number]}; only 0, positions, is emulated", "mode"
            )
        low, high, goals = (field(rows, place, "<u2").astype(int) for place in (bus.LOWEST, bus.HIGHEST, bus.GOAL))
        goals = np.where(goals & 0x8000, -(goals & 0x7FFF), goals)
        goals = np.where(high > low, np.minimum(np.maximum(goals, low), high), goals)
        offsets = field(rows, bus.OFFSET, "<u2").astype(int)
        offsets = np.where(offsets & 0x800, -(offsets & 0x7FF), offsets & 0x7FF)
        was_free = ~commands.enabled
        commands.enabled = rows[:, bus.TORQUE] == 1
        is_free = was_free | ~commands.enabled
        present = self.encoders.counts(readings.position).astype(float)
        self._targets, self._rates = np.where(is_free, (present, np.zeros(len(rows))), (self._targets, self._rates))
        self._move(self.encoders.nearest(goals + offsets), readings.simulated)
        commands.position = self.encoders.positions(self._targets)
        gains = rows[:, KP].astype(int)
        commands.kp = np.where(gains != self._gains, gains, np.nan)
        self._gains = gains
        share = np.minimum(field(rows, EFFORT, "<u2"), field(rows, 16, "<u2")) / 1000.0
        self._protect(readings, self.encoders.nearest(goals + offsets) - present, is_free)
        share = np.where(self._protected, np.minimum(share, 0.01 * rows[:, PROTECTIVE]), share)
        commands.effort_share = np.minimum(share, 1.0)
        return commands

    def _protect(self, readings: RobotReadings, way: np.ndarray, is_free: np.ndarray) -> None:
        """Find the servos that are overloaded for too long; torque that is off, or a goal the other way, frees them."""
        loads, rows = readings.effort / self._limit, self.rows
        is_over = (rows[:, MOST_LOAD] > 0) & (np.abs(loads) >= 0.01 * rows[:, MOST_LOAD])
        self._strained = np.where(is_over, self._strained + readings.simulated - self._seen, 0.0)
        self._seen = readings.simulated
        trips = is_over & (self._strained >= 0.01 * rows[:, PATIENCE] - 1e-9)
        self._loads = np.where(trips & ~self._protected, loads, self._loads)
        self._protected = (self._protected | trips) & ~is_free & (way * self._loads >= 0.0)

    def _move(self, goals: np.ndarray, now: float) -> None:
        """Move the targets towards goals, by the speed and the acceleration that a client set; 0 is any."""
        speed, acceleration = field(self.rows, _SPEED, "<u2").astype(float), 100.0 * self.rows[:, _ACCELERATION]
        passed, self._time = max(now - self._time, 1e-9), now
        way = goals - self._targets
        fastest = np.where(speed > 0.0, speed, np.inf)
        braking = np.where(acceleration > 0.0, np.sqrt(2.0 * acceleration * np.abs(way)), np.inf)
        rates = np.sign(way) * np.minimum(np.minimum(fastest, braking), np.abs(way) / passed)
        change = np.where(acceleration > 0.0, acceleration * passed, np.inf)
        self._rates = np.minimum(np.maximum(rates, self._rates - change), self._rates + change)
        self._targets = self._targets + self._rates * passed

    def homings(self) -> int:
        """Return how often programs wrote homing offsets."""
        return int(self.rows[:, bus.HOMINGS].sum())

    def set_overload(self, chosen: np.ndarray) -> None:
        """Let servos tell an overload, or no more; boolean, shape [joints]."""
        self._told = chosen
        self.rows[:, bus.ERROR] = (self.rows[:, bus.ERROR] & ~np.uint8(_OVERLOAD)) | _OVERLOAD * (
            chosen | self._protected
        )

    def remember(self, row: np.ndarray, shift: int, low: int, high: int) -> int:
        """Write the offset, whose sign is the reverse, and the limits."""
        put(row, bus.OFFSET, "<H", bus.unsigned(-shift, 11))
        put(row, bus.LOWEST, "<HH", low, high)
        return -shift


class FeetechDriver(MotorDriver):
    """The driver of a bus of servos."""

    torque = bus.TORQUE

    def begin(self) -> None:
        """Find the servos."""
        for number, model in zip(self.ids, self.numbers(3, "<H"), strict=True):
            if model != MODEL:
                raise RobotFault(f"{self.names[number]}: id {number} is model {model}, not {MODEL}", "model")
        self.settings = {"kp": (KP, "B", 1), "effort_share": (EFFORT, "<H", 1000)}
        self._offset = np.array([bus.signed(each & 0xFFF, 11) for each in self.numbers(bus.OFFSET, "<H").tolist()])
        found = self._offset, self.numbers(bus.LOWEST, "<H"), self.numbers(bus.HIGHEST, "<H")
        self.refuse_calibration([(int(a), int(b), int(c)) for a, b, c in zip(*found, strict=True)])

    def read(self, readings: RobotReadings) -> None:
        """Measure all servos by one packet."""
        rows = self.ask_all(bus.POSITION, _LAST)
        for number, data in enumerate(rows):
            position, speed, load, voltage, temperature, _, current = _READING.unpack(data)
            readings.position[number] = bus.signed(position, 15)
            readings.velocity[number] = bus.signed(speed, 15)
            readings.effort[number] = bus.signed(load, 10) / 1000.0
            readings.voltage[number], readings.temperature[number] = 0.1 * voltage, temperature
            readings.current[number] = bus.signed(current, 15) * CURRENT
        readings.position = self.encoders.positions(self.encoders.nearest(readings.position + self._offset))
        readings.velocity = self.encoders.velocities(readings.velocity)
        readings.effort = np.full(len(rows), np.nan)  # a share of the duty, and no torque

    def tell_goals(self, position: np.ndarray) -> None:
        """Write the goals."""
        goals = (self.encoders.counts(position) - self._offset) % bus.TURN
        self.tell_all(bus.GOAL, [struct.pack("<H", each) for each in goals], ~np.isnan(position))

    def question(self, register: int, size: int) -> bytes:
        """Return a question to all servos."""
        return bus.packet(bus.EVERYONE, bus.SYNC_READ, bytes([register, size, *self.ids]))

    def answers(self, data: bytes, size: int) -> tuple[dict[int, tuple[int, bytes]], int]:
        """Return what has been answered."""
        packets, wrong, _ = bus.split(data)
        return {own: (error, values) for own, error, values in packets if len(values) == size}, wrong

    def writing(self, register: int, size: int, rows: bytes) -> bytes:
        """Return a write to several servos."""
        return bus.packet(bus.EVERYONE, bus.SYNC_WRITE, bytes([register, size]) + rows)

    def refuse_errors(self, errors: Mapping[int, int]) -> None:
        """Raise an overload."""
        for own, error in errors.items():
            if error & _OVERLOAD:
                raise RobotFault(f"{self.names[own]}: the servo tells an overload", "overload")


def _cut(values: np.ndarray, most: int = 0x7FFF) -> np.ndarray:
    """Return the nearest whole numbers that a register holds; NaN becomes zero."""
    return np.minimum(np.maximum(np.rint(np.where(np.isnan(values), 0.0, values)), -most), most).astype(np.int64)


def _with_sign(numbers: np.ndarray, bit: int) -> np.ndarray:
    """Return registers of numbers whose sign is a bit."""
    return np.minimum(np.abs(numbers), (1 << bit) - 1) | (numbers < 0).astype(np.int64) << bit
