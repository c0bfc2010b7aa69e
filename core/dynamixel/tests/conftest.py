"""Three servos on an emulated bus, without a simulation, and a client of the makers' own library."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pippin_dynamixel import DynamixelConfig, DynamixelJointConfig, bus
from pippin_dynamixel.robot import Dynamixel, DynamixelServer
from pippin_robot import DrivenJoint, RobotCommands, RobotReadings
from pippin_robot.bus import BusEmulateConfig

JOINTS = {
    "pan": DynamixelJointConfig(id=1, model="xl430-w250"),
    "lift": DynamixelJointConfig(id=2, sign=-1, zero=1000),
    "grip": DynamixelJointConfig(id=7, model="xm430-w350"),
}

_PATIENCE = 250.0
"""Time that the library waits for an answer besides its own [ms]."""

POSITIONS = np.array([0.5, -0.25, 1.0])


class Servos:
    """A bus of three servos at known positions, and the robot that they are."""

    def __init__(self, place: Path, **settings: Any) -> None:
        settings.setdefault("timeout", 0.1)
        emulated = BusEmulateConfig(**{key: settings.pop(key) for key in ("wire", "seed") if key in settings})
        self.config = DynamixelConfig(port=str(place / "bus"), joints=JOINTS, emulate=emulated, **settings)
        self.joints = [
            DrivenJoint(name=name, lower=-1.5, upper=1.0, velocity_limit=5.0, effort_limit=2.0, start=0.0)
            for name in JOINTS
        ]
        self.robot = Dynamixel(self.config)
        self.server: DynamixelServer = self.robot.serve(self.joints)
        self.readings = RobotReadings(3)
        self.readings.position[:] = POSITIONS
        self.readings.velocity[:] = 0.0
        self.readings.effort[:] = self.readings.current[:] = 0.0
        self.readings.voltage[:], self.readings.temperature[:] = (12.0, 5.0, 12.0), 30.0

    def exchange(self) -> RobotCommands:
        """Let the robot's side of a step happen: it tells what it measures, and takes commands."""
        self.server.publish(self.readings)
        return self.server.commands(self.readings)

    def row(self, number: int) -> np.ndarray:
        """Return the registers of a servo."""
        return self.server.rows[number]


@pytest.fixture
def servos(tmp_path: Path) -> Iterator[Servos]:
    """Return three servos that answer."""
    with opened(tmp_path) as found:
        yield found


@contextlib.contextmanager
def opened(place: Path, **settings: Any) -> Iterator[Servos]:
    """Yield servos that answer."""
    servos = Servos(place, **settings)
    servos.server.open(servos.readings)
    try:
        yield servos
    finally:
        servos.server.close()


class Client:
    """The makers' library at a port: calls return the value, the result of the transfer, and the error."""

    def __init__(self, port: str, baud: int = 1_000_000) -> None:
        self.sdk = pytest.importorskip("dynamixel_sdk")

        class Patient(self.sdk.PortHandler):  # 34 ms are less than a busy machine may let this process wait
            def setPacketTimeout(self, packet_length: int) -> None:  # noqa: N802
                super().setPacketTimeout(packet_length)
                self.packet_timeout += _PATIENCE

        self.port = Patient(port)
        self.packets = self.sdk.Protocol2PacketHandler()
        self.port.baudrate = baud
        assert self.port.openPort()

    def read(self, own: int, register: int, size: int) -> tuple[int, int, int]:
        """Return a signed register of a servo, the result and the error."""
        data, result, error = self.packets.readTxRx(self.port, own, register, size)
        return int.from_bytes(bytes(data), "little", signed=True), result, error

    def write(self, own: int, register: int, size: int, value: int) -> tuple[int, int]:
        """Write a register of a servo, and return the result and the error."""
        data = list(value.to_bytes(size, "little", signed=value < 0))
        return self.packets.writeTxRx(self.port, own, register, size, data)

    def position(self, own: int) -> int:
        """Return the position that a servo tells."""
        value, result, error = self.read(own, bus.POSITION, 4)
        assert (result, error & 0x7F) == (0, 0)
        return value


@pytest.fixture
def client(servos: Servos) -> Iterator[Client]:
    """Return the makers' library at the bus of `servos`."""
    found = Client(servos.config.port)
    yield found
    found.port.closePort()
