"""Robots of ROS 2 by Zenoh: a session of another process finds them, by the keys and tokens of `rmw_zenoh`."""

import socket
import time
from pathlib import Path

import numpy as np
import pytest
from pippin import ConfigError
from pippin_robot import RobotCommands, RobotFault, RobotReadings

from tests.serving import joints_of, peer, served, within

pytest.importorskip("zenoh")
from pippin_ros2 import RosJointConfig, ZenohConfig
from pippin_ros2.robot import Zenoh
from pippin_ros2.zenoh import attachment

PROGRAM = Path(__file__).with_name("zenoh_peer.py")

JOINTS = {"hip": RosJointConfig(), "knee": RosJointConfig(name="knee_joint", sign=-1, zero=0.5)}


@pytest.fixture
def endpoint():
    """An address of this machine that nobody has."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"tcp/127.0.0.1:{free.getsockname()[1]}"


def robot(endpoint, **keys):
    return Zenoh(ZenohConfig(joints=JOINTS, endpoint=endpoint, domain=3, **keys))


def test_a_program_of_others_reads_states_and_tokens_and_commands(endpoint):
    pytest.importorskip("rosbags")
    with served(robot(endpoint, router=True)) as found:
        state, attached, tokens, after = peer(PROGRAM, endpoint, 3)
        counts = found.server.counts()

    assert state["name"] == ["hip", "knee_joint"]
    np.testing.assert_allclose(state["position"], [0.0, 0.4])
    assert state["step"] == 1
    assert (attached["size"], attached["same"]) == (77, True)
    assert 0.0 < attached["age"] < 10.0
    kinds = {tuple(each.split("/")[5:10]): each for each in tokens}
    node, publisher, subscriber = (
        next(each for key, each in kinds.items() if key[0] == kind) for kind in ("NN", "MP", "MS")
    )
    assert node.startswith("@ros2_lv/3/")
    assert node.endswith("/0/0/NN/%/%/pippin")
    assert "/MP/%/%/pippin/%joint_states/sensor_msgs::msg::dds_::JointState_/RIHS01_a13e" in publisher
    assert publisher.endswith("/::,10:,:,:,,")
    assert "/MS/%/%/pippin/%joint_command/sensor_msgs" in subscriber
    assert after == [0.25, 0.4]
    assert (counts["commands"], counts["refused"]) == (1, 0)


def test_the_driver_reads_and_commands_an_emulated_robot(endpoint):
    with served(robot(endpoint, router=True)) as found:
        driver, readings, commands = robot(endpoint).connect(joints_of(JOINTS)), RobotReadings(2), RobotCommands(2)
        try:
            commands.position[:] = 0.3, 0.2
            assert within(5.0, lambda: driver.write(commands) or found.readings.position[0] == 0.3)
            time.sleep(0.05)
            driver.read(readings)
        finally:
            driver.close()

    np.testing.assert_allclose(readings.position, [0.3, 0.2])


def test_a_message_that_is_none_is_refused(endpoint):
    """Zenoh carries any bytes; DDS drops such a message itself."""
    with served(robot(endpoint, router=True)) as found:
        wire = robot(endpoint).wire()
        write = wire.writer("/joint_command", "sensor_msgs/JointState")
        assert within(5.0, lambda: write(b"\0\1\0\0hello") or found.server.counts()["refused"])
        wire.close()

        assert found.error is None


def test_without_a_router_the_driver_finds_nobody(endpoint):
    with pytest.raises(RobotFault, match="no message has hip, knee_joint"):
        robot(endpoint, wait=0.5).connect(joints_of(JOINTS))


def test_an_endpoint_is_of_this_machine_unless_the_network_is_asked_for(endpoint):
    with pytest.raises(ValueError, match=r"tcp/0\.0\.0\.0:7447.*network = true"):
        robot("tcp/0.0.0.0:7447", router=True)
    with served(robot(endpoint, router=True)), pytest.raises(ConfigError, match="cannot be had"):
        robot(endpoint, router=True).wire()


@pytest.mark.alone
def test_an_attachment_has_77_bytes():
    data = attachment(1, 2, bytes(range(16)))

    assert len(data) == 77
    assert data[:24] == b"\x0fsequence_number\x01" + bytes(7)
