"""Messages of ROS 2 in bytes, beside `rosbags`, which reads and writes them on its own."""

import re

import numpy as np
import pytest
from pippin_ros2.cdr import decode, encode
from pippin_ros2.messages import dds_name, hashes, messages, stamp

STAMP = {"sec": 12, "nanosec": 345}
HEADER = {"stamp": STAMP, "frame_id": "base"}
VECTOR = {"x": 1.5, "y": -2.0, "z": 1e-9}

VALUES = {
    "sensor_msgs/JointState": {
        "header": HEADER,
        "name": ["hip", "knee_é", ""],
        "position": np.array([0.1, np.nan, -3.0]),
        "velocity": np.array([]),
        "effort": np.array([1.0, 2.0, np.inf]),
    },
    "sensor_msgs/Imu": {
        "header": HEADER,
        "orientation": {**VECTOR, "w": 0.5},
        "orientation_covariance": np.arange(9.0),
        "angular_velocity": VECTOR,
        "angular_velocity_covariance": np.zeros(9),
        "linear_acceleration": VECTOR,
        "linear_acceleration_covariance": -np.ones(9),
    },
    "rosgraph_msgs/Clock": {"clock": STAMP},
    "std_msgs/Float64MultiArray": {
        "layout": {"dim": [{"label": "row", "size": 2, "stride": 2}], "data_offset": 1},
        "data": np.array([1.0, 2.0]),
    },
    "trajectory_msgs/JointTrajectory": {
        "header": HEADER,
        "joint_names": ["a", "bc"],
        "points": [
            {
                "positions": np.array([1.0, 2.0]),
                "velocities": np.array([]),
                "accelerations": np.array([]),
                "effort": np.array([3.0]),
                "time_from_start": STAMP,
            }
            for _ in range(2)
        ],
    },
    "rmw_dds_common/ParticipantEntitiesInfo": {
        "gid": {"data": np.arange(16, dtype=np.uint8)},
        "node_entities_info_seq": [
            {
                "node_namespace": "/",
                "node_name": "pippin",
                "reader_gid_seq": [{"data": np.full(16, 7, np.uint8)}],
                "writer_gid_seq": [],
            }
        ],
    },
}


@pytest.fixture(scope="module")
def store():
    """The messages of ROS 2 Jazzy, by an independent library."""
    typesys = pytest.importorskip("rosbags.typesys")
    return typesys.get_typestore(typesys.Stores.ROS2_JAZZY)


def full(name):
    """Return the name of a message as ROS has it."""
    return name.replace("/", "/msg/")


def of_store(store, name, values):
    """Return values as objects of the store."""
    own = dict(store.fielddefs[full(name)][1])
    text = {each.split()[1]: each.split()[0] for each in re.split(r",\s+", messages()[name])}

    def made(field, value):
        kind = text[field].partition("[")[0]
        if isinstance(value, dict):
            return of_store(store, kind, value)
        return [made(field, each) for each in value] if isinstance(value, list) else value

    assert own.keys() == values.keys()
    return store.types[full(name)](**{field: made(field, value) for field, value in values.items()})


@pytest.mark.parametrize("name", VALUES)
def test_bytes_and_hashes_equal_those_of_rosbags(store, name):
    data = bytes(encode(messages(), name, VALUES[name]))

    assert data == bytes(store.serialize_cdr(of_store(store, name, VALUES[name]), full(name)))
    assert hashes()[name] == store.hash_rihs01(full(name))


@pytest.mark.parametrize("name", VALUES)
def test_what_is_written_is_read(name):
    data = encode(messages(), name, VALUES[name])

    np.testing.assert_equal(decode(messages(), name, data), VALUES[name])


@pytest.mark.alone
def test_names_and_times_have_the_form_of_ros():
    assert dds_name("sensor_msgs/Imu") == "sensor_msgs::msg::dds_::Imu_"
    assert stamp(2.5) == {"sec": 2, "nanosec": 500_000_000}
    assert encode(messages(), "rosgraph_msgs/Clock", {"clock": stamp(2.5)}).hex() == "00010000020000000065cd1d"


@pytest.mark.parametrize("name", VALUES)
def test_a_message_that_was_cut_is_refused(name):
    data = encode(messages(), name, VALUES[name])
    for end in range(4, len(data) - 1, 3):
        with pytest.raises(ValueError, match=name):
            decode(messages(), name, data[:end])
    with pytest.raises(ValueError, match="0000"):
        decode(messages(), name, b"\0" * len(data))
