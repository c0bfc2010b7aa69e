"""Buses of motors with encoders, without their protocols: counts, calibrations, and the driver."""

from __future__ import annotations

import abc
import json
import math
import struct
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pippin import ConfigError

from .bus import BusConfig, BusPort, BusServer
from .contract import DrivenJoint, RobotCommands, RobotDriver, RobotFault

__all__ = ["Encoders", "MotorDriver", "MotorServer", "field", "known", "put", "refuse_slides"]

_TRIES = 5
"""Number of times that motors are looked for."""


class Encoders:
    """Counts of the encoders of a bus, before homing offsets, and positions of its joints; shape [joints].

    Args:
        config: The settings, with the sign and the zero of each joint.
        turn: Counts of a turn.
    """

    def __init__(self, config: BusConfig, turn: int) -> None:
        self._zero = np.array([each.zero for each in config.joints.values()])
        self._sign = np.array([each.sign for each in config.joints.values()])
        self._turn = turn
        #: Angle of a count [rad].
        self.angle: float = 2.0 * math.pi / turn

    def counts(self, position: np.ndarray) -> np.ndarray:
        """Return the counts of positions, shape [joints]; NaN becomes the zero.

        Args:
            position: Positions [rad], shape [joints].
        """
        return np.rint(_or_zero(position) * self._sign / self.angle).astype(np.int64) + self._zero

    def positions(self, counts: np.ndarray) -> np.ndarray:
        """Return the positions of counts [rad], shape [joints].

        Args:
            counts: Counts before homing offsets, shape [joints].
        """
        return self._sign * (counts - self._zero) * self.angle

    def nearest(self, counts: np.ndarray) -> np.ndarray:
        """Return counts that are whole turns away, at most half a turn from the zero, shape [joints].

        Args:
            counts: Counts, shape [joints].
        """
        half = self._turn // 2
        return (counts - self._zero + half) % self._turn - half + self._zero

    def rates(self, velocity: np.ndarray) -> np.ndarray:
        """Return counts per second, shape [joints]; NaN becomes 0.

        Args:
            velocity: Velocities [rad/s], shape [joints].
        """
        return _or_zero(velocity) * self._sign / self.angle

    def velocities(self, rates: np.ndarray) -> np.ndarray:
        """Return velocities [rad/s], shape [joints].

        Args:
            rates: Counts per second, shape [joints].
        """
        return self._sign * rates * self.angle

    def signed(self, values: np.ndarray) -> np.ndarray:
        """Return what has the direction of a joint in that of its motor, and the reverse; NaN becomes 0.

        Args:
            values: The values, shape [joints].
        """
        return self._sign * _or_zero(values)


class MotorServer(BusServer):
    """A bus of emulated motors with encoders.

    Args:
        config: The settings.
        joints: The joints, in the order of the settings.
        turn: Counts of a turn.
    """

    def __init__(self, config: BusConfig, joints: Sequence[DrivenJoint], turn: int) -> None:
        super().__init__(config, len(joints))
        self.joints, self.encoders, self._turn = joints, Encoders(config, turn), turn

    @abc.abstractmethod
    def remember(self, row: np.ndarray, shift: int, low: int, high: int) -> int:
        """Let a motor keep a calibration, and return the homing offset as the motor counts it.

        Args:
            row: Its row.
            shift: What is added to the counts of its encoder.
            low: Lowest count after that.
            high: Highest count after that.
        """

    def calibrate(self, file: Path | None) -> dict[str, Any]:
        """Give each motor the offset and the limits of a calibration of its joint's whole range, and return LeRobot's
        file of it, which is written too.

        Raises:
            ConfigError: A joint has no limits.
        """
        joints, middle, table = self.joints, self._turn // 2 - 1, {}
        for joint in joints:
            if not math.isfinite(joint.lower + joint.upper):
                raise ConfigError(f"--calibrated: {joint.name} has no limits; give it some in the robot's file")
        shifts = middle - self.encoders.counts(np.array([0.5 * (joint.lower + joint.upper) for joint in joints]))
        ends = [self.encoders.counts(np.array([getattr(each, name) for each in joints])) for name in ("lower", "upper")]
        ranges = np.sort((np.array(ends) + shifts) % self._turn, axis=0).T
        for joint, row, shift, (low, high), each in zip(
            joints, self.rows, shifts, ranges, self._config.joints.values(), strict=True
        ):
            table[joint.name] = {
                "id": each.id,
                "drive_mode": 0,
                "homing_offset": self.remember(row, int(shift), int(low), int(high)),
                "range_min": int(low),
                "range_max": int(high),
            }
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(table, indent=4) + "\n", encoding="utf-8")
        return table


class MotorDriver(RobotDriver):
    """The driver of a bus of motors with encoders.

    Args:
        config: The settings.
        turn: Counts of a turn.

    Raises:
        ConfigError: The port is not there, or another program has it; or the calibration is another one.
        RobotFault: A motor does not answer, or is another model.
    """

    stops = ("hold", "damp", "limp")
    torque: ClassVar[int]
    """Register of the torque, of one byte: 1 gives it."""

    def __init__(self, config: BusConfig, turn: int) -> None:
        #: The settings.
        self.config: Any = config
        #: Counts and positions.
        self.encoders: Encoders = Encoders(config, turn)
        #: The addresses.
        self.ids: list[int] = [each.id for each in config.joints.values()]
        #: The name of the joint of each address.
        self.names: Mapping[int, str] = dict(zip(self.ids, config.joints, strict=True))
        #: Fields of `RobotCommands` that are registers: the register, its layout, and the factor to its unit.
        self.settings: dict[str, tuple[int, str, Any]] = {}
        self._written: dict[str, np.ndarray] = {}
        self.port = BusPort(config)
        try:
            self._begin()
        except BaseException:
            self.port.close()
            raise

    def _begin(self) -> None:
        """Find the motors; a silence is asked again some times, as nothing moves yet."""
        for left in reversed(range(_TRIES)):
            try:
                return self.begin()
            except RobotFault as fault:
                if fault.kind != "silence" or not left:
                    raise

    @abc.abstractmethod
    def begin(self) -> None:
        """Find the motors, and fill `settings`."""

    @abc.abstractmethod
    def question(self, register: int, size: int) -> bytes:
        """Return the packet that asks every motor for bytes of a register.

        Args:
            register: The register.
            size: Its bytes.
        """

    @abc.abstractmethod
    def answers(self, data: bytes, size: int) -> tuple[dict[int, tuple[int, bytes]], int]:
        """Return the error and the bytes of each address that has answered, and how many answers were damaged.

        Args:
            data: All bytes so far.
            size: Bytes that were asked for.
        """

    @abc.abstractmethod
    def writing(self, register: int, size: int, rows: bytes) -> bytes:
        """Return the packet that writes a register of several motors.

        Args:
            register: The register.
            size: Its bytes.
            rows: For each motor its address, and the bytes.
        """

    @abc.abstractmethod
    def refuse_errors(self, errors: Mapping[int, int]) -> None:
        """Do nothing if no error is a fault.

        Args:
            errors: The error of each answer, by address.

        Raises:
            RobotFault: A motor tells a fault.
        """

    @abc.abstractmethod
    def tell_goals(self, position: np.ndarray) -> None:
        """Write the goals of positions.

        Args:
            position: Positions [rad], shape [joints]; NaN leaves a goal as it is.
        """

    def rounded(self, position: np.ndarray) -> np.ndarray:
        """Return targets in whole counts.

        Args:
            position: The targets [rad], shape [joints].
        """
        return self.encoders.positions(self.encoders.counts(position))

    def asked(self, register: int, size: int) -> dict[int, tuple[int, bytes]]:
        """Return the error and the bytes of a register of every motor, by address.

        Args:
            register: The register.
            size: Its bytes.

        Raises:
            RobotFault: A motor does not answer.
        """
        what = f"a question for register {register} of {self.ids}"
        return self.port.ask(self.question(register, size), partial(self._whole, size), what)

    def _whole(self, size: int, data: bytes) -> dict[int, tuple[int, bytes]] | None:
        found, wrong = self.answers(data, size)
        if wrong or not set(found) <= set(self.ids):
            raise ValueError("damaged, or others answer")
        return found if len(found) == len(self.ids) else None

    def ask_all(self, register: int, size: int) -> list[bytes]:
        """Return the bytes of a register of every motor, whose answers tell no error.

        Args:
            register: The register.
            size: Its bytes.
        """
        found = self.asked(register, size)
        self.refuse_errors({own: error for own, (error, _) in found.items()})
        return [found[own][1] for own in self.ids]

    def tell_all(self, register: int, values: Sequence[bytes], chosen: np.ndarray | None = None) -> None:
        """Write a register of the chosen motors, by one packet that nobody answers.

        Args:
            register: The register.
            values: The bytes for each motor.
            chosen: Which motors, shape [motors]; by default all.
        """
        rows = [
            bytes([own, *value])
            for number, (own, value) in enumerate(zip(self.ids, values, strict=True))
            if chosen is None or chosen[number]
        ]
        if rows:
            self.port.tell(self.writing(register, len(values[0]), b"".join(rows)))

    def numbers(self, register: int, layout: str) -> np.ndarray:
        """Return a register of every motor, shape [motors].

        Args:
            register: The register.
            layout: Its layout, as `struct` has it.
        """
        size = struct.calcsize(layout)
        return np.array([struct.unpack(layout, data)[0] for data in self.ask_all(register, size)])

    def write(self, commands: RobotCommands) -> None:
        """Write goals by one packet, and settings that changed.

        Args:
            commands: The targets, gains and shares of effort.
        """
        self.tell_goals(commands.position)
        for name, (register, layout, factor) in self.settings.items():
            values = getattr(commands, name)
            known = self._written.setdefault(name, np.full(len(self.ids), np.nan))
            changed = ~np.isnan(values) & (values != known)
            if changed.any():
                self.tell_all(
                    register, [struct.pack(layout, round(each)) for each in np.nan_to_num(values) * factor], changed
                )
                known[changed] = values[changed]

    def set_torque(self, is_on: bool) -> None:
        """Write the register of the torque of all motors.

        Args:
            is_on: Whether they have torque then.
        """
        self.tell_all(self.torque, [bytes([is_on])] * len(self.ids))

    def has_torque(self) -> bool:
        """Return whether all motors say that they have torque."""
        return all(data[0] == 1 for data in self.ask_all(self.torque, 1))

    def stop(self, how: str, position: np.ndarray) -> None:
        """Hold the measured positions; or brake by the motors' own resistance, with a gain of zero; or be free.

        Args:
            how: `hold`, `damp` or `limp`.
            position: The measured positions [rad], shape [joints].
        """
        commands = RobotCommands(len(self.ids))
        commands.position = position
        commands.kp = np.zeros(len(self.ids)) if how == "damp" else commands.kp
        for _ in range(3):  # nobody answers, and a packet can be lost
            if how == "limp":
                self.set_torque(False)
            else:
                self._written.clear()
                self.write(commands)

    def refuse_calibration(self, found: Sequence[tuple[int, int, int]]) -> None:
        """Refuse motors that are calibrated otherwise than the file of the calibration says.

        Args:
            found: Homing offset, lowest and highest position of each motor.

        Raises:
            ConfigError: They are others, or the file cannot be read.
        """
        if self.config.calibration is None:
            return
        path = Path(self.config.calibration)
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
            wanted = [
                tuple(int(table[name][key]) for key in ("homing_offset", "range_min", "range_max"))
                for name in self.names.values()
            ]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ConfigError(f"robot.calibration: '{path}' is no calibration of these motors: {error!r}") from error
        for name, own, motor in zip(self.names.values(), wanted, found, strict=True):
            if own != motor:
                raise ConfigError(
                    f"robot.calibration: '{path}' has offset and limits {list(own)} for {name}, and the motor"
                    f" {list(motor)}; calibrate again, or name its file"
                )

    def counts(self) -> dict[str, int]:
        """Return the numbers of packets."""
        return dict(self.port.counted)

    def close(self) -> None:
        """Let go of the port."""
        self.port.close()


def refuse_slides(joints: Sequence[DrivenJoint]) -> None:
    """Refuse joints that slide: counts of encoders are angles.

    Args:
        joints: The joints.

    Raises:
        ConfigError: One slides.
    """
    for joint in joints:
        if not joint.is_angle:
            raise ConfigError(f"robot.joints.{joint.name}: it slides, and the motor's counts are angles; leave it out")


def _or_zero(values: np.ndarray) -> np.ndarray:
    """Return numbers, and 0 for NaN; a few joints take a tenth of the time of `nan_to_num`."""
    return np.where(np.isnan(values), 0.0, values)


def known(value: float) -> float:
    """Return a number, or 0 for what nobody measures.

    Args:
        value: The number, or NaN.
    """
    return 0.0 if math.isnan(value) else float(value)


def put(row: np.ndarray, place: int, layout: str, *values: int) -> None:
    """Write numbers into a row.

    Args:
        row: The row, uint8, shape [bytes].
        place: The first byte.
        layout: The layout of the numbers, as `struct` has it.
        values: The numbers.
    """
    data = struct.pack(layout, *values)
    row[place : place + len(data)] = np.frombuffer(data, dtype=np.uint8)


def field(rows: np.ndarray, place: int, kind: str) -> np.ndarray:
    """Return a number of each row as a view, which can be written: a number is never half of an old one.

    Args:
        rows: The rows, uint8, shape [motors, bytes].
        place: Its first byte.
        kind: Its type in NumPy's words, such as `<u2`.
    """
    return np.ndarray(len(rows), kind, rows, place, rows.strides[:1])
