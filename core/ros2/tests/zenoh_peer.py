"""A program of others: a session of Zenoh that finds a robot by its router. It prints what it hears, as JSON.

Usage: zenoh_peer.py ENDPOINT PREFIX, where PREFIX is the domain. It reads one state, the tokens, and commands the hip.
"""

import json
import struct
import sys
import time

import zenoh
from rosbags.typesys import Stores, get_typestore
from zenoh.ext import Int64, z_serialize

JOINT_STATE = "sensor_msgs/msg/JointState"


def main(endpoint, domain):
    store = get_typestore(Stores.ROS2_JAZZY)
    end = f"sensor_msgs::msg::dds_::JointState_/{store.hash_rihs01(JOINT_STATE)}"
    config = zenoh.Config()
    for key, value in (
        ("mode", "peer"),
        ("connect/endpoints", [endpoint]),
        ("listen/endpoints", ["tcp/127.0.0.1:0"]),
        ("scouting/multicast/enabled", False),
    ):
        config.insert_json5(key, json.dumps(value))
    session = zenoh.open(config)
    states = session.declare_subscriber(f"{domain}/joint_states/{end}")
    publisher = session.declare_publisher(f"{domain}/joint_command/{end}")
    samples = [states.recv() for _ in range(2)]
    numbers, times = zip(
        *(struct.unpack_from("<q16xxq", each.attachment.to_bytes(), 16) for each in samples), strict=True
    )
    attachment = samples[0].attachment.to_bytes()
    gid = attachment[-16:]
    whole = b"".join(
        bytes(z_serialize(each))
        for each in ("sequence_number", Int64(numbers[0]), "source_timestamp", Int64(times[0]), "source_gid", gid)
    )
    told = store.deserialize_cdr(samples[0].payload.to_bytes(), JOINT_STATE)
    print(json.dumps({"name": told.name, "position": told.position.tolist(), "step": numbers[1] - numbers[0]}))
    print(json.dumps({"size": len(attachment), "same": attachment == whole, "age": time.time() - 1e-9 * times[0]}))
    print(json.dumps([str(each.ok.key_expr) for each in session.liveliness().get("@ros2_lv/**")]))
    time.sleep(0.3)
    types = store.types
    stamp = types["builtin_interfaces/msg/Time"](0, 0)
    header = types["std_msgs/msg/Header"](stamp, "")
    import numpy as np

    none = np.array([])
    command = types[JOINT_STATE](header, ["hip"], np.array([0.25]), none, none)
    publisher.put(bytes(store.serialize_cdr(command, JOINT_STATE)), attachment=attachment)
    end = time.monotonic() + 20.0
    while told.position[0] != 0.25 and time.monotonic() < end:
        told = store.deserialize_cdr(states.recv().payload.to_bytes(), JOINT_STATE)
    print(json.dumps(told.position.tolist()))
    session.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
