"""A program of others: a participant with classes of IDL of its own. It prints what it hears, as JSON.

Usage: dds_peer.py DOMAIN COMMANDS, where COMMANDS is a list in JSON of {topic, kind, values, wait}.
"""

import json
import sys
import time
from dataclasses import dataclass

from cyclonedds.builtin import (
    BuiltinDataReader,
    BuiltinTopicDcpsParticipant,
    BuiltinTopicDcpsPublication,
    BuiltinTopicDcpsSubscription,
)
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct, annotations, types
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

LOOPBACK = """<CycloneDDS><Domain Id="any"><General><Interfaces>
<NetworkInterface name="lo" multicast="default"/></Interfaces></General></Domain></CycloneDDS>"""


@dataclass
@annotations.final
class Time(IdlStruct, typename="builtin_interfaces.msg.dds_.Time_"):
    sec: types.int32 = 0
    nanosec: types.uint32 = 0


@dataclass
@annotations.final
class Header(IdlStruct, typename="std_msgs.msg.dds_.Header_"):
    stamp: Time
    frame_id: str = ""


@dataclass
@annotations.final
class JointState(IdlStruct, typename="sensor_msgs.msg.dds_.JointState_"):
    header: Header
    name: types.sequence[str]
    position: types.sequence[types.float64]
    velocity: types.sequence[types.float64]
    effort: types.sequence[types.float64]


@dataclass
@annotations.final
class Dimension(IdlStruct, typename="std_msgs.msg.dds_.MultiArrayDimension_"):
    label: str
    size: types.uint32
    stride: types.uint32


@dataclass
@annotations.final
class DimensionLayout(IdlStruct, typename="std_msgs.msg.dds_.MultiArrayLayout_"):
    dim: types.sequence[Dimension]
    data_offset: types.uint32


@dataclass
@annotations.final
class Numbers(IdlStruct, typename="std_msgs.msg.dds_.Float64MultiArray_"):
    layout: DimensionLayout
    data: types.sequence[types.float64]


@dataclass
@annotations.final
class Duration(IdlStruct, typename="builtin_interfaces.msg.dds_.Duration_"):
    sec: types.int32
    nanosec: types.uint32


@dataclass
@annotations.final
class Point(IdlStruct, typename="trajectory_msgs.msg.dds_.JointTrajectoryPoint_"):
    positions: types.sequence[types.float64]
    velocities: types.sequence[types.float64]
    accelerations: types.sequence[types.float64]
    effort: types.sequence[types.float64]
    time_from_start: Duration


@dataclass
@annotations.final
class Trajectory(IdlStruct, typename="trajectory_msgs.msg.dds_.JointTrajectory_"):
    header: Header
    joint_names: types.sequence[str]
    points: types.sequence[Point]


def message(kind, values):
    header = Header(Time(), "")
    if kind == "state":
        return JointState(
            header, values["name"], *(values.get(each, []) for each in ("position", "velocity", "effort"))
        )
    if kind == "numbers":
        return Numbers(DimensionLayout([], 0), values["data"])
    points = [
        Point(positions, [], [], [], Duration(int(at), round(1e9 * (at % 1.0)))) for at, positions in values["points"]
    ]
    return Trajectory(header, values["name"], points)


def seen(reader, wait=0.0):
    """Return the newest state that has come within a time."""
    last, end = None, time.monotonic() + wait
    while last is None or time.monotonic() < end:
        last = (reader.take(100) or [last])[-1]
        time.sleep(0.002)
        if last is None and time.monotonic() > end + 40.0:
            sys.exit("heard nothing for 40 s")
    return {
        "name": last.name,
        "position": list(last.position),
        "velocity": list(last.velocity),
        "effort": list(last.effort),
        "stamp": last.header.stamp.sec + 1e-9 * last.header.stamp.nanosec,
    }


def user_data(participant, topic):
    """Return the user data of others by topic."""
    found = {}
    for each in BuiltinDataReader(participant, topic).take(100):
        if each.qos[Policy.Userdata] is not None:
            found.setdefault(getattr(each, "topic_name", "participant"), bytes(each.qos[Policy.Userdata].data).decode())
    return found


def main(domain, commands):
    _domain = Domain(domain, LOOPBACK)
    participant = DomainParticipant(domain)
    topics = {"state": JointState, "numbers": Numbers, "trajectory": Trajectory}
    reliable = Qos(Policy.Reliability.Reliable(0))
    reader = DataReader(participant, Topic(participant, "rt/joint_states", JointState), reliable)
    writers = {
        each["topic"]: DataWriter(participant, Topic(participant, each["topic"], topics[each["kind"]]), reliable)
        for each in commands
    }
    print(json.dumps(seen(reader)), flush=True)
    if commands:
        time.sleep(0.5)  # the writers are found
    else:
        told = (BuiltinTopicDcpsParticipant, BuiltinTopicDcpsPublication, BuiltinTopicDcpsSubscription)
        print(json.dumps([user_data(participant, each) for each in told]), flush=True)
    for each in commands:
        writers[each["topic"]].write(message(each["kind"], each["values"]))
        print(json.dumps(seen(reader, each["wait"])), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]))
