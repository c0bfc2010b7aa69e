"""Servos of the series X: the side of the servos, and the driver."""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pippin import ConfigError
from pippin_robot import DrivenJoint, RobotCommands, RobotFault, RobotPlugin, RobotReadings
from pippin_robot.bus import refuse_ids, refuse_rate
from pippin_robot.motors import MotorDriver, MotorServer, field, put, refuse_slides

from . import DynamixelConfig, bus

RATE = 0.229 / 60.0 * bus.TURN
"""Unit of the registers of speeds [counts/s]."""

FULL_PWM, _FAR, _TOLERANCE = 885, 1_048_575, 64
"""All of the PWM; the largest goal over turns; counts that a servo may stand outside of its limits, for the driver."""

MODES = (3, 4, 5)
"""Modes that follow positions: within a turn, over turns, and with a limit on the current."""

_READING = struct.Struct("<hii8xHB")
"""From the current to the temperature: current, speed, position, the trajectory, voltage, temperature."""

_VOLTAGE, _HEAT, _OVERLOAD = 1, 4, 32
_KINDS = {_VOLTAGE: "voltage", _HEAT: "heat", _OVERLOAD: "overload"}


class Dynamixel(RobotPlugin):
    """A bus of servos of the series X."""

    config: DynamixelConfig
    gain_types = ("servo",)
    faults = ("silence", "drop", "corrupt", "heat", "sag", "overload", "quit")

    def __init__(self, config: DynamixelConfig) -> None:
        super().__init__(config)
        refuse_ids(config.joints, 252)
        if config.baud not in bus.SPEEDS:
            raise ConfigError(f"robot.baud: servos know {', '.join(map(str, bus.SPEEDS))}, got {config.baud}")

    def serve(self, joints: Sequence[DrivenJoint]) -> DynamixelServer:
        """Return the servos."""
        refuse_slides(joints)
        return DynamixelServer(self.config, joints)

    def connect(self, joints: Sequence[DrivenJoint]) -> DynamixelDriver:
        """Return the driver, once every servo has answered."""
        refuse_slides(joints)
        count, each = len(joints), _READING.size
        answers = 8 + count * (each + 4) if self.config.fast else count * (each + 11)
        refuse_rate(self.config, [14 + count, answers, 14 + 5 * count])
        return DynamixelDriver(self.config, bus.TURN)


class DynamixelServer(MotorServer):
    """Emulated servos. They are new, but for id and speed; the file's gains hold until a client writes others."""

    protocol = Path(bus.__file__)
    notes = ("servos keep gains I and D and accelerations, and do nothing with them; PWM and trajectories read 0",)

    def __init__(self, config: DynamixelConfig, joints: Sequence[DrivenJoint]) -> None:
        super().__init__(config, joints, bus.TURN)
        names = {model["name"]: number for number, model in bus.tables()[1].items()}
        models = [names[each.model] for each in config.joints.values()]
        for row, each, model in zip(self.rows, config.joints.values(), models, strict=True):
            row[:256] = np.frombuffer(bus.fresh(model), dtype=np.uint8)
            row[bus.ID], row[bus.BAUD] = each.id, bus.SPEEDS.index(config.baud)
        count = len(joints)
        self._limit = np.array([joint.effort_limit for joint in joints])
        self._unit = np.array([bus.tables()[1][model].get("current", np.nan) for model in models])
        self._most_current = np.maximum(field(self.rows, bus.MOST_CURRENT, "<u2"), 1)
        self._commands, self._gains = RobotCommands(count), field(self.rows, bus.KP, "<u2").copy()
        self._commands.enabled[:] = self._is_over = self._stopped = np.zeros(count, dtype=bool)
        self._goals: np.ndarray = np.zeros(count, dtype=np.int32)
        self._targets, self._speeds, self._time, self._is_first = np.zeros(count), np.zeros(count), 0.0, True

    def publish(self, readings: RobotReadings) -> None:
        """Write the registers of what is measured; the program adds the homing offset."""
        rows = self.rows
        directions = np.where(rows[:, bus.DRIVE] & 1, -1, 1)
        field(rows, bus.ENCODER, "<i4")[:] = self.encoders.counts(readings.position)
        rates = np.rint(directions * self.encoders.rates(readings.velocity) / RATE)
        field(rows, bus.SPEED, "<i4")[:] = rates
        rows[:, bus.MOVING] = np.abs(rates) > field(rows, bus.THRESHOLD, "<u4")
        loads = np.where(np.isnan(self._unit), readings.effort / self._limit * 1000.0, readings.current / self._unit)
        field(rows, bus.CURRENT, "<i2")[:] = np.rint(directions * self.encoders.signed(loads)).clip(-32_767, 32_767)
        field(rows, bus.VOLTS, "<u2")[:] = np.rint(10.0 * np.nan_to_num(readings.voltage))
        rows[:, bus.HEAT] = np.rint(np.nan_to_num(readings.temperature)).clip(0, 255)
        if self._is_first:  # a goal of before the start would move the arm
            for row in rows:
                bus.settle(row)
            self._is_first, self._goals = False, field(rows, bus.GOAL, "<i4").copy()
            self._targets = self._goals.astype(float)
        self._fail()

    def open(self, readings: RobotReadings) -> None:
        """Fill the registers, and start the program that answers."""
        self.publish(readings)
        low, high = (0.1 * field(self.rows, place, "<u2") for place in (bus.LOW_VOLTS, bus.HIGH_VOLTS))
        for number in np.flatnonzero(self.rows[:, bus.ERROR] & _VOLTAGE).tolist():
            raise ConfigError(
                f"robot.joints.{self.joints[number].name}: the servo has {readings.voltage[number]:g} V, and shuts down"
                f" outside {low[number]:g} to {high[number]:g} V; set the voltage of its actuator, or of robot.emulate"
            )
        super().open(readings)

    def _fail(self) -> None:
        """Set the hardware errors; those that shut a servo down stay until it is started again, without torque."""
        rows = self.rows
        volts, low, high = (field(rows, place, "<u2") for place in (bus.VOLTS, bus.LOW_VOLTS, bus.HIGH_VOLTS))
        errors = np.where((volts < low) | (volts > high), _VOLTAGE, 0) | np.where(self._is_over, _OVERLOAD, 0)
        errors |= np.where(rows[:, bus.HEAT] > rows[:, bus.HOT], _HEAT, 0)
        for row, error in zip(rows, errors.tolist(), strict=True):
            if row[bus.ERROR] != (error := error | int(row[bus.ERROR] & row[bus.SHUTDOWN])):
                row[bus.ERROR] = error
            if error & row[bus.SHUTDOWN] and row[bus.TORQUE]:
                row[bus.TORQUE] = 0

    def commands(self, readings: RobotReadings) -> RobotCommands:
        """Return the goals, which move by their profile, the torque, and gains that a client changed."""
        self.refuse_end()
        rows, commands, now = self.rows, self._commands, time.monotonic()
        for joint, mode in zip(self.joints, rows[:, bus.MODE], strict=True):
            if mode not in MODES:
                raise RobotFault(f"{joint.name}: register 11 asks for mode {mode}; emulated are 3, 4 and 5", "mode")
        stopped = np.array([bus.is_expired(row, now) for row in rows])
        for number in np.flatnonzero(stopped & ~self._stopped):
            bus.settle(rows[number], is_turned=False)
        was_free, self._stopped = ~commands.enabled | stopped, stopped
        commands.enabled = rows[:, bus.TORQUE] == 1
        told = self._targets_now(now, was_free | ~commands.enabled)
        turned = told - field(rows, bus.OFFSET, "<i4") + field(rows, bus.BASE, "<i4")
        commands.position = self.encoders.positions(np.where(rows[:, bus.DRIVE] & 1, -turned, turned))
        gains = field(rows, bus.KP, "<u2").copy()
        commands.kp = np.where(gains != self._gains, gains, np.nan)
        self._gains = gains
        share = np.abs(field(rows, bus.GOAL_PWM, "<i2") / FULL_PWM)
        current = np.abs(field(rows, bus.GOAL_CURRENT, "<i2") / self._most_current)
        commands.effort_share = np.clip(np.where(rows[:, bus.MODE] == 5, np.minimum(share, current), share), 0.0, 1.0)
        return commands

    def _targets_now(self, now: float, is_free: np.ndarray) -> np.ndarray:
        """Return the targets as positions that the servos tell: their goals, as far as the profile's speed reaches."""
        goals, profile = field(self.rows, bus.GOAL, "<i4").copy(), field(self.rows, bus.PROFILE, "<i4")
        by_time = np.abs(goals - self._targets) / (0.001 * np.maximum(profile, 1))
        speeds = np.where(self.rows[:, bus.DRIVE] & 4, by_time, RATE * profile)
        self._speeds = np.where(goals != self._goals, speeds, self._speeds)
        step = np.where(is_free | (profile == 0), np.inf, self._speeds * (now - self._time))
        self._targets = self._targets + np.clip(goals - self._targets, -step, step)
        self._goals, self._time = goals, now
        return self._targets

    def set_overload(self, chosen: np.ndarray) -> None:
        """Let servos be overloaded, or no more; boolean, shape [joints]."""
        self._is_over = chosen

    def remember(self, row: np.ndarray, shift: int, low: int, high: int) -> int:
        """Write the offset and the limits."""
        put(row, bus.OFFSET, "<i", shift)
        put(row, bus.HIGHEST, "<ii", high, low)
        return shift


class DynamixelDriver(MotorDriver):
    """The driver of a bus of servos."""

    torque = bus.TORQUE

    def begin(self) -> None:
        """Find the servos."""
        models = [bus.tables()[1].get(number, {"name": "another one"}) for number in self.numbers(0, "<H").tolist()]
        for own, model, each in zip(self.ids, models, self.config.joints.values(), strict=True):
            if model["name"] != each.model:
                raise RobotFault(f"{self.names[own]}: id {own} is {model['name']}, and not {each.model}", "model")
        modes = self.numbers(bus.MODE, "B")
        for own, mode in zip(self.ids, modes, strict=True):
            if mode not in MODES:
                raise RobotFault(f"{self.names[own]}: register 11 of id {own} has mode {mode}, not 3, 4 or 5", "mode")
        self.settings = {
            "kp": (bus.KP, "<H", 1),
            "kd": (bus.KD, "<H", 1),
            "effort_share": (bus.GOAL_PWM, "<H", self.numbers(bus.MOST_PWM, "<H")),
        }
        self._direction = np.where(self.numbers(bus.DRIVE, "B") & 1, -1, 1)
        self._offset = self.numbers(bus.OFFSET, "<i")
        self._unit = np.array([model.get("current", np.nan) for model in models])
        low, high = self.numbers(bus.LOWEST, "<i"), self.numbers(bus.HIGHEST, "<i")
        self.refuse_calibration(list(zip(*(each.tolist() for each in (self._offset, low, high)), strict=True)))
        told = self.numbers(bus.POSITION, "<i")
        turned = self._direction * (told - self._offset)
        self._turns = self.encoders.nearest(turned) - turned
        self._low, self._high = np.where(modes == 3, low, -_FAR), np.where(modes == 3, high, _FAR)
        settled = np.where(modes == 3, (told - self._offset) % bus.TURN + self._offset, told)
        for number in np.flatnonzero((settled < self._low - _TOLERANCE) | (settled > self._high + _TOLERANCE)):
            raise RobotFault(
                f"{self.names[self.ids[number]]}: it stands at {settled[number]}, and takes no goal outside of its"
                f" limits, {low[number]} to {high[number]}; move it, change registers 52 and 48, or use mode 4",
                "limit",
            )

    def read(self, readings: RobotReadings) -> None:
        """Measure all servos by one packet."""
        found = np.array([_READING.unpack(data) for data in self.ask_all(bus.CURRENT, _READING.size)])
        current, rate, position, volts, heat = found.T
        readings.position = self.encoders.positions(self._counts(position))
        readings.velocity = self.encoders.velocities(self._direction * rate * RATE)
        readings.current = self.encoders.signed(self._direction * current) * self._unit
        readings.voltage, readings.temperature = 0.1 * volts, heat.astype(float)
        readings.effort = np.full(len(self.ids), np.nan)

    def _counts(self, position: np.ndarray) -> np.ndarray:
        """Return the counts of the encoders at positions that the servos tell."""
        return self._direction * (position - self._offset) + self._turns

    def tell_goals(self, position: np.ndarray) -> None:
        """Write the goals."""
        goals = self._direction * (self.encoders.counts(position) - self._turns) + self._offset
        goals = np.clip(goals, self._low, self._high)
        self.tell_all(bus.GOAL, [struct.pack("<i", each) for each in goals], ~np.isnan(position))

    def set_torque(self, is_on: bool) -> None:
        """Write the register of the torque; a servo in mode 3 that gets it forgets whole turns."""
        if not is_on:
            super().set_torque(is_on)
            return
        before = self._counts(self.numbers(bus.POSITION, "<i"))
        super().set_torque(is_on)
        lost = before - self._counts(self.numbers(bus.POSITION, "<i"))
        self._turns = self._turns + np.rint(lost / bus.TURN).astype(np.int64) * bus.TURN

    def stop(self, how: str, position: np.ndarray) -> None:
        """Hold the measured positions; or brake by the motors' own resistance, without gains; or be free."""
        if how == "damp":
            self.tell_all(bus.KI, [bytes(2)] * len(self.ids))
        super().stop(how, position)

    def question(self, register: int, size: int) -> bytes:
        """Return a question to all servos."""
        instruction = bus.FAST_SYNC_READ if self.config.fast else bus.SYNC_READ
        return bus.packet(bus.EVERYONE, instruction, struct.pack("<HH", register, size) + bytes(self.ids))

    def answers(self, data: bytes, size: int) -> tuple[dict[int, tuple[int, bytes]], int]:
        """Return what has been answered, by each servo or by all in one."""
        packets, wrong, _ = bus.split(data)
        found: dict[int, tuple[int, bytes]] = {}
        for own, instruction, values in packets:
            if instruction == bus.STATUS and own != bus.EVERYONE:
                found[own] = values[0], values[1:]
            elif instruction == bus.STATUS:
                parts = [values[start : start + size + 2] for start in range(0, len(values), size + 4)]
                found |= {part[1]: (part[0], part[2:]) for part in parts}
        if any(len(values) != size for _, values in found.values()):
            raise ValueError("too short")
        return found, wrong

    def writing(self, register: int, size: int, rows: bytes) -> bytes:
        """Return a write to several servos."""
        return bus.packet(bus.EVERYONE, bus.SYNC_WRITE, struct.pack("<HH", register, size) + rows)

    def refuse_errors(self, errors: Mapping[int, int]) -> None:
        """Raise the hardware error that a servo tells."""
        alerts = [own for own, error in errors.items() if error & bus.ALERT]
        if alerts:
            status = self.asked(bus.ERROR, 1)[alerts[0]][1][0]
            kind = next((kind for bit, kind in _KINDS.items() if status & bit), "hardware")
            raise RobotFault(f"{self.names[alerts[0]]}: a hardware error, {kind}: register 70 reads {status}", kind)
