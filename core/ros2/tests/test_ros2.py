"""Robots of ROS 2 by DDS: programs of others, in processes of their own, see them and command them."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from pippin import ConfigError
from pippin_robot import RobotCommands, RobotFault, RobotReadings, RobotSafetyConfig

from tests.serving import DOMAIN, joints_of, peer, served, within

pytest.importorskip("cyclonedds")
from pippin_ros2 import Ros2Config, RosJointConfig
from pippin_ros2.robot import Ros2

PROGRAM = Path(__file__).with_name("dds_peer.py")

JOINTS = {"hip": RosJointConfig(), "knee": RosJointConfig(name="knee_joint", sign=-1, zero=0.5)}


def robot(**keys):
    return Ros2(Ros2Config(joints=JOINTS, domain=DOMAIN, **keys))


def test_a_program_of_others_reads_states_types_and_names():
    with served(robot()) as found:
        state, users = peer(PROGRAM, DOMAIN, "[]")

    assert state["name"] == ["hip", "knee_joint"]
    np.testing.assert_allclose(state["position"], [0.0, 0.4])
    assert abs(state["stamp"] - time.time()) < 60.0
    assert found.server.counts()["states"] > 10
    participants, writers, readers = users
    assert participants == {"participant": "enclave=/;"}
    assert "RIHS01_a13ee3a3" in writers["rt/joint_states"]
    assert "RIHS01_a13ee3a3" in readers["rt/joint_command"]
    assert "RIHS01_e725f4a5" in writers["ros_discovery_info"]


def test_a_program_of_others_commands_by_three_topics():
    commands = """[
        {"topic": "rt/joint_command", "kind": "state", "wait": 0.3,
         "values": {"name": ["knee_joint"], "position": [0.7]}},
        {"topic": "rt/joint_command", "kind": "state", "wait": 0.3, "values": {"name": ["elbow"], "position": [0.9]}},
        {"topic": "rt/legs/commands", "kind": "numbers", "values": {"data": [0.2, 0.5]}, "wait": 0.3},
        {"topic": "rt/legs/joint_trajectory", "kind": "trajectory",
         "values": {"name": ["hip"], "points": [[0.2, [0.4]], [0.4, [0.6]]]}, "wait": 0.8}
    ]"""
    with served(robot(commands="/legs/commands", trajectory="/legs/joint_trajectory")) as found:
        states = peer(PROGRAM, DOMAIN, commands)

    positions = [each["position"] for each in states]
    np.testing.assert_allclose(positions, [[0.0, 0.4], [0.0, 0.7], [0.0, 0.7], [0.2, 0.5], [0.6, 0.5]], atol=1e-9)
    assert found.server.counts()["refused"] == 1
    np.testing.assert_allclose(found.commands.position, [0.6, 0.0], atol=1e-9)


def test_the_driver_reads_and_commands_an_emulated_robot():
    """Both sides share the domain of this process."""
    with served(robot()) as found:
        driver, readings, commands = robot().connect(joints_of(JOINTS)), RobotReadings(2), RobotCommands(2)
        try:
            driver.read(readings)
            first = readings.position.copy()
            commands.position[:] = 0.3, np.nan
            driver.write(commands)
            assert within(5.0, lambda: found.readings.position[0] == 0.3)
            time.sleep(0.05)
            driver.read(readings)

            np.testing.assert_allclose(first, [0.0, 0.1])
            np.testing.assert_allclose(readings.position, [0.3, 0.1])
            assert abs(readings.time - time.monotonic()) < 1.0
            assert driver.counts()["commands"] == 1
            found.server.set_faults(True, 0.0, 0.0)
            time.sleep(0.1)
            driver._take()  # the last ones were on their way
            with pytest.raises(RobotFault, match="no message has all joints") as fault:
                driver.read(readings)
            assert fault.value.kind == "silence"
            with pytest.raises(RobotFault, match="'limp'; it can: hold"):
                driver.stop("limp", readings.position)
        finally:
            driver.close()


def test_the_driver_refuses_to_be_left_otherwise_than_holding():
    with pytest.raises(ConfigError, match="cannot ask for 'damp'"):
        robot(safety=RobotSafetyConfig(on_fault="damp")).connect(joints_of(JOINTS))


def test_the_driver_names_a_joint_that_nobody_tells():
    others = {"hip": RosJointConfig(), "ankle": RosJointConfig()}
    with served(robot()), pytest.raises(RobotFault, match="no message has ankle; it names hip, knee_joint"):
        Ros2(Ros2Config(joints=others, domain=DOMAIN, wait=1.0)).connect(joints_of(others))


def test_the_unit_and_the_clock_are_told_when_asked_for():
    """A driver of another robot of this process reads the unit; the clock is that of the simulation."""
    with served(robot(imu="base", use_sim_time=True)) as found:
        driver, readings = robot(imu="base").connect(joints_of(JOINTS)), RobotReadings(2)
        try:
            assert within(5.0, lambda: driver.read(readings) or not np.isnan(readings.orientation).any())
        finally:
            driver.close()
        clock = found.server._wire.reader("rt/clock", "rosgraph_msgs/Clock")
        assert within(5.0, clock)

    np.testing.assert_allclose(readings.orientation, [0.0, 0.0, 0.6, 0.8])
    np.testing.assert_allclose(readings.angular_velocity, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(readings.acceleration, [0.0, 0.0, 9.81])


def test_an_emulated_robot_is_on_this_machine_alone_unless_it_is_told():
    """A program at the machine's other interface does not see it."""
    program = PROGRAM.read_text().replace('name="lo" multicast="default"', 'autodetermine="true"')
    program = program.replace("end + 40.0", "end + 4.0")
    with served(robot()):
        done = subprocess.run([sys.executable, "-c", program, str(DOMAIN), "[]"], capture_output=True, text=True)

    assert "heard nothing" in done.stderr
    with pytest.raises(ValueError, match="network = true"):
        Ros2Config(joints=JOINTS, interface="eth0")
    with served(robot()), pytest.raises(ConfigError, match="in one way in a program"):
        robot(network=True, interface="eth0").wire()
