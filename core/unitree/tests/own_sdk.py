"""What a program of others has in place of Unitree's SDK: classes of IDL, the checksum bit by bit, and channels."""

import json
import struct
import time
from dataclasses import dataclass

from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct, annotations
from cyclonedds.idl.types import array, float32, int16, int32, int64, sequence, uint8, uint16, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

LOOPBACK = """<CycloneDDS><Domain Id="any"><General><Interfaces>
<NetworkInterface name="lo"/></Interfaces></General></Domain></CycloneDDS>"""

FORMATS = {
    "unitree_go.msg.dds_.LowCmd_": "<4B4IH2x" + "B3x5f3I" * 20 + "4B55Bx2I",
    "unitree_go.msg.dds_.LowState_": "<4B4IH2x13fb3x" + "B3x7fb3x3I" * 20 + "4BiH4b15H8hI41B3xf2b2x2f4h2I",
    "unitree_hg.msg.dds_.LowCmd_": "<2B2x" + "B3x5fI" * 35 + "5I",
    "unitree_hg.msg.dds_.LowState_": "<2I2B2xI13fh2x" + "B3x4f2hf7I" * 35 + "40B5I",
}
"""Structures of C, whose last word is the checksum of those before it."""


@dataclass
@annotations.final
class Imu(IdlStruct, typename="unitree_go.msg.dds_.IMUState_"):
    quaternion: array[float32, 4]
    gyroscope: array[float32, 3]
    accelerometer: array[float32, 3]
    rpy: array[float32, 3]
    temperature: uint8


@dataclass
@annotations.final
class MotorState(IdlStruct, typename="unitree_go.msg.dds_.MotorState_"):
    mode: uint8
    q: float32
    dq: float32
    ddq: float32
    tau_est: float32
    q_raw: float32
    dq_raw: float32
    ddq_raw: float32
    temperature: uint8
    lost: uint32
    reserve: array[uint32, 2]


@dataclass
@annotations.final
class BmsState(IdlStruct, typename="unitree_go.msg.dds_.BmsState_"):
    version_high: uint8
    version_low: uint8
    status: uint8
    soc: uint8
    current: int32
    cycle: uint16
    bq_ntc: array[uint8, 2]
    mcu_ntc: array[uint8, 2]
    cell_vol: array[uint16, 15]


@dataclass
@annotations.final
class LowState(IdlStruct, typename="unitree_go.msg.dds_.LowState_"):
    head: array[uint8, 2]
    level_flag: uint8
    frame_reserve: uint8
    sn: array[uint32, 2]
    version: array[uint32, 2]
    bandwidth: uint16
    imu_state: Imu
    motor_state: array[MotorState, 20]
    bms_state: BmsState
    foot_force: array[int16, 4]
    foot_force_est: array[int16, 4]
    tick: uint32
    wireless_remote: array[uint8, 40]
    bit_flag: uint8
    adc_reel: float32
    temperature_ntc1: uint8
    temperature_ntc2: uint8
    power_v: float32
    power_a: float32
    fan_frequency: array[uint16, 4]
    reserve: uint32
    crc: uint32


@dataclass
@annotations.final
class MotorCmd(IdlStruct, typename="unitree_go.msg.dds_.MotorCmd_"):
    mode: uint8
    q: float32
    dq: float32
    tau: float32
    kp: float32
    kd: float32
    reserve: array[uint32, 3]


@dataclass
@annotations.final
class BmsCmd(IdlStruct, typename="unitree_go.msg.dds_.BmsCmd_"):
    off: uint8
    reserve: array[uint8, 3]


@dataclass
@annotations.final
class LowCmd(IdlStruct, typename="unitree_go.msg.dds_.LowCmd_"):
    head: array[uint8, 2]
    level_flag: uint8
    frame_reserve: uint8
    sn: array[uint32, 2]
    version: array[uint32, 2]
    bandwidth: uint16
    motor_cmd: array[MotorCmd, 20]
    bms_cmd: BmsCmd
    wireless_remote: array[uint8, 40]
    led: array[uint8, 12]
    fan: array[uint8, 2]
    gpio: uint8
    reserve: uint32
    crc: uint32


@dataclass
@annotations.final
class Identity(IdlStruct, typename="unitree_api.msg.dds_.RequestIdentity_"):
    id: int64
    api_id: int64


@dataclass
@annotations.final
class Lease(IdlStruct, typename="unitree_api.msg.dds_.RequestLease_"):
    id: int64


@dataclass
@annotations.final
class RequestPolicy(IdlStruct, typename="unitree_api.msg.dds_.RequestPolicy_"):
    priority: int32
    noreply: bool


@dataclass
@annotations.final
class RequestHeader(IdlStruct, typename="unitree_api.msg.dds_.RequestHeader_"):
    identity: Identity
    lease: Lease
    policy: RequestPolicy


@dataclass
@annotations.final
class Request(IdlStruct, typename="unitree_api.msg.dds_.Request_"):
    header: RequestHeader
    parameter: str
    binary: sequence[uint8]


@dataclass
@annotations.final
class Status(IdlStruct, typename="unitree_api.msg.dds_.ResponseStatus_"):
    code: int32


@dataclass
@annotations.final
class ResponseHeader(IdlStruct, typename="unitree_api.msg.dds_.ResponseHeader_"):
    identity: Identity
    status: Status


@dataclass
@annotations.final
class Response(IdlStruct, typename="unitree_api.msg.dds_.Response_"):
    header: ResponseHeader
    data: str
    binary: sequence[uint8]


def numbers(value):
    """Yield all numbers of a message in order."""
    if isinstance(value, (list, tuple, bytes, bytearray)):
        for each in value:
            yield from numbers(each)
    elif isinstance(value, IdlStruct):
        for field in value.__dataclass_fields__:
            yield from numbers(getattr(value, field))
    else:
        yield value


def crc_of_words(data):
    """Return the checksum, bit by bit."""
    crc = 0xFFFFFFFF
    for (word,) in struct.iter_unpack("<I", data):
        for bit in range(31, -1, -1):
            top = (crc >> 31) ^ (word >> bit & 1)
            crc = (crc << 1 & 0xFFFFFFFF) ^ (0x04C11DB7 if top else 0)
    return crc


def packed(message):
    """Return the structure of C of a message; single bytes have no sign here."""
    return struct.pack(FORMATS[message.__idl_typename__].replace("b", "B"), *numbers(message))


class Sdk:
    """Channels of a domain, by the names of the SDK."""

    def __init__(self, domain):
        self._domain = Domain(domain, LOOPBACK)
        self._participant = DomainParticipant(domain)
        own = self._participant
        self._states = DataReader(own, Topic(own, "rt/lowstate", LowState))  # the newest: a class takes its time
        self._commands = DataWriter(own, Topic(own, "rt/lowcmd", LowCmd))
        self._asks = DataWriter(own, Topic(own, "rt/api/motion_switcher/request", Request))
        self._answers = DataReader(own, Topic(own, "rt/api/motion_switcher/response", Response))
        self.states = []

    def check_mode(self):
        """Return the answer of the motion switcher."""
        for number in range(50):
            policy = RequestHeader(Identity(number, 1001), Lease(0), RequestPolicy(0, False))
            self._asks.write(Request(policy, "{}", []))
            time.sleep(0.1)
            for answer in self._answers.take(10):
                return answer.header.status.code, json.loads(answer.data)
        raise TimeoutError("no answer")

    def receive(self):
        """Take what has come."""
        self.states += self._states.take(1)
        return self.states

    def write(self, command):
        """Send a command."""
        self._commands.write(command)

    def crc(self, message):
        """Return the checksum of a message."""
        return crc_of_words(packed(message)[:-4])

    def command(self):
        """Return a command of nothing."""
        motors = [MotorCmd(0, 0.0, 0.0, 0.0, 0.0, 0.0, [0] * 3) for _ in range(20)]
        return LowCmd(
            [0xFE, 0xEF], 0xFF, 0, [0] * 2, [0] * 2, 0, motors, BmsCmd(0, [0] * 3), [0] * 40, [0] * 12, [0] * 2, 0, 0, 0
        )
