"""Buses of motors at serial ports: the server, which is a program beside the emulator, and the port of a driver."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np
from attrs.validators import ge, gt
from pippin import ConfigError, FilePath
from pippin.extras import import_library
from pippin.validators import positive

from . import bus_program
from .config import RobotConfig, RobotEmulateConfig, RobotJointConfig
from .contract import RobotFault, RobotReadings, RobotServer

__all__ = [
    "BusConfig",
    "BusEmulateConfig",
    "BusJointConfig",
    "BusPort",
    "BusServer",
    "refuse_ids",
    "refuse_rate",
]

try:
    import termios
except ModuleNotFoundError:  # Windows
    _LOST: tuple[type[Exception], ...] = (OSError,)
else:
    _LOST = OSError, termios.error

_START = 10.0
"""Longest start of the program [s]."""

_LOOK = 2e-4
"""Time between two looks at a port, where nothing tells of its bytes [s]."""

_SHARE = 0.7
"""Largest share of a period that the bytes of a bus may take."""


@attrs.frozen(kw_only=True)
class BusJointConfig(RobotJointConfig):
    """A motor of a bus."""

    id: int = attrs.field(validator=ge(0))
    """Address on the bus."""

    zero: int = attrs.field()
    """Count of the encoder at the joint's zero, before any homing offset."""


@attrs.frozen(kw_only=True)
class BusEmulateConfig(RobotEmulateConfig):
    """Settings of an emulated bus besides those of its motors."""

    baud: Literal["strict", "any"] = "strict"
    """Whether a client at another speed than the motors' gets an answer; `strict` gives none, as the motors do."""

    wire: bool = False
    """Whether answers take their time on the wire."""

    seed: int = attrs.field(default=0, validator=ge(0))
    """Seed of the answers that are lost or damaged."""


@attrs.frozen(kw_only=True)
class BusConfig(RobotConfig):
    """Settings of every bus of motors."""

    joints: Mapping[str, BusJointConfig]
    """The motors, in the order in which the bus is asked."""

    port: str
    """The serial port of the driver, and the link that the emulator makes, such as `/dev/ttyACM0`."""

    baud: int = attrs.field(default=1_000_000, validator=gt(0))
    """Speed of the bus [baud]."""

    timeout: float = attrs.field(default=0.02, validator=positive)
    """Time for a question and its answer, with all tries [s]."""

    retries: int = attrs.field(default=2, validator=ge(0))
    """Number of times that a question is asked again."""

    calibration: FilePath | None = None
    """LeRobot's file of a calibration: the driver refuses motors whose homing offset or limits are others, and
    `pippin emulate --calibrated` writes it."""

    emulate: BusEmulateConfig = BusEmulateConfig()


class BusServer(RobotServer):
    """A bus of emulated motors. A plugin adds the protocol, and what registers mean.

    Args:
        config: The settings.
        count: Number of motors.

    Raises:
        ConfigError: This system has no pseudo terminals.
    """

    protocol: Path
    """File with the class `BUS` of `bus_program`: the standard library alone."""

    def __init__(self, config: BusConfig, count: int) -> None:
        if not hasattr(os, "openpty"):
            raise ConfigError(
                f"robot.type: an emulated bus is a pseudo terminal, and {sys.platform} has none; emulate it on Linux,"
                " on macOS or in WSL, or drive a real robot"
            )
        self._config = config
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._file.truncate(bus_program.HEAD_SIZE + count * bus_program.ROW_SIZE)
        self.memory = bus_program.Memory(self._file.fileno(), count)
        #: The rows of the motors, in the order of the joints: uint8, shape [motors, bytes].
        self.rows: np.ndarray = np.frombuffer(self.memory.data, dtype=np.uint8)[bus_program.HEAD_SIZE :]
        self.rows = self.rows.reshape(count, bus_program.ROW_SIZE)
        self._program: subprocess.Popen[str] | None = None

    def open(self, readings: RobotReadings) -> None:
        """Fill the registers, and start the program that answers.

        Args:
            readings: Measurements before the first step.

        Raises:
            ConfigError: The port cannot be made.
        """
        self.publish(readings)
        settings = {
            "protocol": str(self.protocol),
            "memory": self._file.fileno(),
            "count": len(self.rows),
            "link": self._config.port,
            "wire": self._config.emulate.wire,
            "strict": self._config.emulate.baud == "strict",
            "seed": self._config.emulate.seed,
        }
        self._program = subprocess.Popen(
            [sys.executable, "-I", bus_program.__file__, json.dumps(settings)],
            pass_fds=[self._file.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._program.stdout is not None
        ready, _, _ = select.select([self._program.stdout], [], [], _START)
        self.address = self._program.stdout.readline().strip() if ready else "error: it did not start"
        if not self.address or self.address.startswith("error"):
            self.close()
            raise ConfigError(f"robot.port: '{self._config.port}' cannot be made ({self.address or 'it ended'})")

    def set_faults(self, is_silent: bool, lost: float, damaged: float) -> None:
        """Let the program answer nothing if `is_silent`, and let shares be `lost` and `damaged`."""
        self.memory.set_faults(is_silent, lost, damaged)

    def refuse_end(self) -> None:
        """Do nothing while the program runs.

        Raises:
            RobotFault: The program ended.
        """
        if self._program is not None and self._program.poll() is not None:
            raise RobotFault(f"the program at '{self.address}' ended with code {self._program.returncode}", "server")

    def counts(self) -> dict[str, int]:
        """Return the numbers of packets."""
        packets, wrong, answers, dropped, damaged, *_ = self.memory.head()
        return {"packets": packets, "wrong": wrong, "answers": answers, "dropped": dropped, "damaged": damaged}

    def close(self) -> None:
        """End the program; the numbers of packets stay."""
        self._file.close()
        if self._program is None:
            return
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        with contextlib.suppress(OSError):
            self._program.stdin.close()
        try:
            self._program.wait(1.0)
        except subprocess.TimeoutExpired:
            self._program.kill()
            self._program.wait()
        self._program.stdout.close()
        self._program = None


class BusPort:
    """A serial port that one program has, with questions and answers.

    Args:
        config: The settings.

    Raises:
        ConfigError: The port is not there, or another program has it.
        PluginError: The extra `serial` is not installed.
    """

    def __init__(self, config: BusConfig) -> None:
        serial = import_library("serial", "serial")
        self._lost: tuple[type[Exception], ...] = (*_LOST, serial.SerialException)
        try:
            self._port = serial.Serial(config.port, config.baud, timeout=0, exclusive=True)
        except (serial.SerialException, ValueError) as error:
            raise ConfigError(
                f"robot.port: '{config.port}' cannot be opened ({error}); plug the robot in, or close what has the port"
            ) from error
        self._try, self._retries = config.timeout / (config.retries + 1), config.retries
        self.counted = {"packets": 0, "retries": 0, "wrong": 0, "silent": 0}

    def ask(self, question: bytes, parse: Any, what: str) -> Any:
        """Send a question, and return what `parse` makes of the answer, asking again if there is none.

        Args:
            question: The bytes.
            parse: Called with all bytes so far; returns None while some are missing, and raises a ValueError if they
                are damaged.
            what: What is asked, for errors.

        Raises:
            RobotFault: There is no whole answer in time, in all tries.
        """
        reason = "silent"
        for attempt in range(self._retries + 1):
            self.counted["retries"] += attempt > 0
            self.counted["packets"] += 1
            try:
                self._port.reset_input_buffer()
                self._port.write(question)
                answer = self._answer(parse)
            except ValueError:
                reason = "wrong"
            except self._lost as error:
                raise RobotFault(f"the port is lost while {what} was asked: {error}", "port") from error
            else:
                if answer is not None:
                    return answer
                reason = "silent"
            self.counted[reason] += 1
        told = "no answer" if reason == "silent" else "only damaged answers"
        raise RobotFault(f"{told} to {what} in {self._retries + 1} tries of {self._try:.4f} s", "silence")

    def tell(self, packet: bytes) -> None:
        """Send what nobody answers.

        Args:
            packet: The bytes.

        Raises:
            RobotFault: The port is lost.
        """
        self.counted["packets"] += 1
        try:
            self._port.write(packet)
        except self._lost as error:
            raise RobotFault(f"the port is lost: {error}", "port") from error

    def _answer(self, parse: Any) -> Any:
        data, end = b"", time.monotonic() + self._try
        while (left := end - time.monotonic()) > 0.0:
            if not _has_bytes(self._port, left):
                break
            data += self._port.read(4096)
            if (found := parse(data)) is not None:
                return found
        return None

    def close(self) -> None:
        """Let go of the port."""
        self._port.close()


def _has_bytes(port: Any, patience: float) -> bool:
    """Tell whether bytes come within a time [s]."""
    if sys.platform != "win32":
        return bool(select.select([port.fileno()], [], [], patience)[0])
    end = time.monotonic() + patience
    while not port.in_waiting:
        if time.monotonic() > end:
            return False
        time.sleep(_LOOK)
    return True


def refuse_ids(joints: Any, highest: int) -> None:
    """Refuse addresses that are out of range, or that two joints have.

    Args:
        joints: The settings of the motors, by name.
        highest: The highest address.

    Raises:
        ConfigError: An address is wrong.
    """
    known: dict[int, str] = {}
    for name, each in joints.items():
        if not 0 <= each.id <= highest:
            raise ConfigError(f"robot.joints.{name}.id: an address is 0 to {highest}, got {each.id}")
        if each.id in known:
            raise ConfigError(f"robot.joints.{name}.id: {known[each.id]} has {each.id} already; each motor has its own")
        known[each.id] = name


def refuse_rate(config: BusConfig, sizes: Sequence[int]) -> None:
    """Refuse a rate whose bytes the bus cannot carry.

    Args:
        config: The settings.
        sizes: Bytes of each packet of a period.

    Raises:
        ConfigError: They take more than seven tenths of the period.
    """
    share = sum(sizes) * 10.0 / config.baud * config.rate
    if share > _SHARE:
        best = _SHARE * config.baud / (10.0 * sum(sizes))
        raise ConfigError(
            f"robot.rate: {sum(sizes)} bytes a period take {share:.0%} of it at {config.baud} baud; ask for at most"
            f" {best:.0f} Hz"
        )
