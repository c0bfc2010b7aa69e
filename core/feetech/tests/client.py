"""A bus of emulated servos without a simulation, and Feetech's own library at it."""

from __future__ import annotations

import numpy as np
import scservo_sdk as sdk
from pippin_feetech import FeetechConfig, FeetechJointConfig
from pippin_feetech.robot import Feetech
from pippin_robot import DrivenJoint, RobotReadings
from pippin_robot.bus import BusEmulateConfig


def servos(link, count=3, baud=1_000_000, baud_rule="strict", **emulate):
    """Return a server of servos 1 to `count` at a link, not open yet, and readings of joints at zero."""
    names = [f"joint_{number}" for number in range(1, count + 1)]
    config = FeetechConfig(
        port=str(link),
        baud=baud,
        joints={name: FeetechJointConfig(id=number) for number, name in enumerate(names, 1)},
        emulate=BusEmulateConfig(baud=baud_rule, **emulate),
    )
    joints = [
        DrivenJoint(name=name, lower=-1.5, upper=1.5, velocity_limit=5.0, effort_limit=3.0, start=0.0) for name in names
    ]
    readings = RobotReadings(count)
    readings.position[:], readings.velocity[:], readings.effort[:] = 0.0, 0.0, 0.0
    readings.voltage[:], readings.temperature[:] = 12.0, 25.0
    return Feetech(config).serve(joints), readings


class Client:
    """Feetech's library at a port."""

    def __init__(self, link, baud=1_000_000):
        self.port, self.packets = sdk.PortHandler(str(link)), sdk.PacketHandler(0)
        assert self.port.openPort()
        self.set_speed(baud)

        self.set_patience(1.0)

    def set_patience(self, seconds):
        """Wait for answers as long as this: the library's 34 ms are too short for a busy machine."""
        self.port.setPacketTimeout = lambda length: self.port.setPacketTimeoutMillis(1000.0 * seconds)

    def set_speed(self, baud):
        assert self.port.setBaudRate(baud)

    def ping(self, address):
        """Return the model and the error, or what the library says of the silence."""
        model, result, error = self.packets.ping(self.port, address)
        return (model, error) if result == sdk.COMM_SUCCESS else self.packets.getTxRxResult(result)

    def is_silent(self, address):
        """Return whether nothing answers a ping in a tenth of a second."""
        self.set_patience(0.1)
        told = self.ping(address)
        self.set_patience(1.0)
        return told == self.packets.getTxRxResult(sdk.COMM_RX_TIMEOUT)

    def read(self, address, place, size=2):
        """Return a number, with its error byte if there is one."""
        data, result, error = self.packets.readTxRx(self.port, address, place, size)
        assert result == sdk.COMM_SUCCESS, self.packets.getTxRxResult(result)
        number = int.from_bytes(bytes(data), "little")
        return (number, error) if error else number

    def write(self, address, place, number, size=2):
        """Write a number, and return the error byte."""
        data = list(int(number).to_bytes(size, "little"))
        result, error = self.packets.writeTxRx(self.port, address, place, size, data)
        assert result == sdk.COMM_SUCCESS, self.packets.getTxRxResult(result)
        return error

    def sync_read(self, addresses, place, size=2):
        """Return the numbers of several servos by one packet."""
        group = sdk.GroupSyncRead(self.port, self.packets, place, size)
        for address in addresses:
            assert group.addParam(address)
        result = group.txRxPacket()
        assert result == sdk.COMM_SUCCESS, self.packets.getTxRxResult(result)
        return [group.getData(address, place, size) for address in addresses]

    def sync_write(self, numbers, place):
        """Write numbers of two bytes to several servos, by their addresses, with one packet."""
        group = sdk.GroupSyncWrite(self.port, self.packets, place, 2)
        for address, number in numbers.items():
            assert group.addParam(address, list(int(number).to_bytes(2, "little")))
        assert group.txPacket() == sdk.COMM_SUCCESS

    def close(self):
        self.port.closePort()


def at(readings, *positions):
    """Set positions in counts from the middle."""
    readings.position[: len(positions)] = np.array(positions) * 2.0 * np.pi / 4096
