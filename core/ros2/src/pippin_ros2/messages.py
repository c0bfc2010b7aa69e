"""The messages of ROS 2 that a robot needs, with the hashes of their types, and their names on the wire."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cdr import encode

__all__ = ["HASHES", "MESSAGES", "ImuBytes", "JointStateBytes", "dds_name", "stamp"]

MESSAGES = {
    "builtin_interfaces/Time": "int32 sec, uint32 nanosec",
    "builtin_interfaces/Duration": "int32 sec, uint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp, string frame_id",
    "geometry_msgs/Quaternion": "float64 x, float64 y, float64 z, float64 w",
    "geometry_msgs/Vector3": "float64 x, float64 y, float64 z",
    "sensor_msgs/JointState": (
        "std_msgs/Header header, string[] name, float64[] position, float64[] velocity, float64[] effort"
    ),
    "sensor_msgs/Imu": (
        "std_msgs/Header header, geometry_msgs/Quaternion orientation, float64[9] orientation_covariance,"
        " geometry_msgs/Vector3 angular_velocity, float64[9] angular_velocity_covariance,"
        " geometry_msgs/Vector3 linear_acceleration, float64[9] linear_acceleration_covariance"
    ),
    "rosgraph_msgs/Clock": "builtin_interfaces/Time clock",
    "std_msgs/MultiArrayDimension": "string label, uint32 size, uint32 stride",
    "std_msgs/MultiArrayLayout": "std_msgs/MultiArrayDimension[] dim, uint32 data_offset",
    "std_msgs/Float64MultiArray": "std_msgs/MultiArrayLayout layout, float64[] data",
    "trajectory_msgs/JointTrajectoryPoint": (
        "float64[] positions, float64[] velocities, float64[] accelerations, float64[] effort,"
        " builtin_interfaces/Duration time_from_start"
    ),
    "trajectory_msgs/JointTrajectory": (
        "std_msgs/Header header, string[] joint_names, trajectory_msgs/JointTrajectoryPoint[] points"
    ),
    "rmw_dds_common/Gid": "uint8[16] data",
    "rmw_dds_common/NodeEntitiesInfo": (
        "string node_namespace, string node_name, rmw_dds_common/Gid[] reader_gid_seq, rmw_dds_common/Gid[] writer_gid_seq"
    ),
    "rmw_dds_common/ParticipantEntitiesInfo": (
        "rmw_dds_common/Gid gid, rmw_dds_common/NodeEntitiesInfo[] node_entities_info_seq"
    ),
}
"""Fields of the messages, as since the release Jazzy."""

HASHES = {
    "sensor_msgs/JointState": "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e",
    "sensor_msgs/Imu": "RIHS01_7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b",
    "rosgraph_msgs/Clock": "RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564",
    "std_msgs/Float64MultiArray": "RIHS01_1025ddc6b9552d191f89ef1a8d2f60f3d373e28b283d8891ddcc974e8c55397f",
    "trajectory_msgs/JointTrajectory": "RIHS01_179b33eba59d676f6d967ac71fe35e7ca2f64b2f3928f4a018cec115e213796e",
    "rmw_dds_common/ParticipantEntitiesInfo": "RIHS01_e725f4a506958c79f95dd693b965722c57b19cd18e7eff984f49561b93dc985d",
}
"""Hashes of the types of topics; they follow from the fields, and a test computes them anew."""


def dds_name(name: str) -> str:
    """Return the name of a type on the wire, such as `sensor_msgs::msg::dds_::JointState_`."""
    package, _, own = name.partition("/")
    return f"{package}::msg::dds_::{own}_"


def stamp(seconds: float) -> dict[str, int]:
    """Return a time [s] as the fields of a message."""
    nanoseconds = round(seconds * 1e9)
    return {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9}


class _StampedBytes:
    """Bytes of a message that begins with a header; only numbers change."""

    def __init__(self, name: str, values: dict[str, Any], frame: str = "") -> None:
        self.data = encode(MESSAGES, name, {"header": {"frame_id": frame}, **values})
        self._seconds = np.frombuffer(self.data, "<i4", 1, 4)
        self._nanoseconds = np.frombuffer(self.data, "<u4", 1, 8)

    def set_time(self, seconds: float) -> None:
        """Set the time of the header [s]."""
        time = stamp(seconds)
        self._seconds[0], self._nanoseconds[0] = time["sec"], time["nanosec"]

    def _last(self, count: int, behind: int = 0) -> np.ndarray:
        """Return numbers of eight bytes, those before the last `behind` bytes."""
        return np.frombuffer(self.data, "<f8", count, len(self.data) - behind - 8 * count)


class JointStateBytes(_StampedBytes):
    """Bytes of a `JointState` of all joints, whose numbers are written in place.

    Args:
        names: Names of the joints.
    """

    def __init__(self, names: list[str]) -> None:
        count = len(names)
        zeros = np.zeros(count)
        super().__init__(
            "sensor_msgs/JointState", {"name": names, "position": zeros, "velocity": zeros, "effort": zeros}
        )
        step = 8 * count + 8  # a length, a gap, and the numbers
        #: Views on the bytes, shape [joints].
        self.position, self.velocity, self.effort = (self._last(count, behind * step) for behind in (2, 1, 0))


class ImuBytes(_StampedBytes):
    """Bytes of an `Imu`, likewise; its covariances are zero, which says that nobody knows them.

    Args:
        frame: Name of the frame.
    """

    def __init__(self, frame: str) -> None:
        super().__init__("sensor_msgs/Imu", {}, frame)
        numbers = self._last(37)
        #: Views on the bytes: a quaternion x, y, z, w, and vectors.
        self.orientation, self.angular_velocity, self.acceleration = numbers[:4], numbers[13:16], numbers[25:28]
