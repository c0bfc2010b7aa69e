"""What messages command, by the rules of the page *ROS 2 without ROS*."""

import numpy as np
import pytest
from pippin_ros2 import Ros2Config, RosJointConfig
from pippin_ros2.joints import JointNames, Targets

NAN = np.nan
NONE = np.array([])


@pytest.fixture
def targets():
    joints = {"hip": RosJointConfig(), "knee": RosJointConfig(name="knee_joint", sign=-1, zero=0.5), "toe": RosJointConfig()}
    complaints = []
    found = Targets(JointNames(Ros2Config(joints=joints)), complaints.append)
    return found, complaints


def state(names, position=NONE, velocity=NONE, effort=NONE):
    return {
        "name": names,
        "position": np.array(position),
        "velocity": np.array(velocity),
        "effort": np.array(effort),
    }


def test_a_joint_without_a_name_or_a_number_keeps_its_target(targets):
    found, complaints = targets

    for message in (state(["toe", "hip"], [1.0, 2.0]), state(["hip", "toe"], [NAN, 3.0], effort=[0.5, NAN])):
        found.take("/joint_command", lambda message=message: message, found.follow_state)

    assert not complaints
    np.testing.assert_equal(found.commands.position, [2.0, NAN, 3.0])
    np.testing.assert_equal(found.commands.effort, [0.5, NAN, NAN])
    np.testing.assert_equal(found.commands.velocity, [NAN, NAN, NAN])


def test_signs_and_zeros_are_taken_off(targets):
    found, _ = targets

    found.follow_state(state(["knee_joint"], [0.7], [2.0], [3.0]))

    row = [found.commands.position[1], found.commands.velocity[1], found.commands.effort[1]]
    np.testing.assert_allclose(row, [-0.2, -2.0, -3.0])
    np.testing.assert_allclose(found.names.told(np.array([0.0, -0.2, 0.0])), [0.0, 0.7, 0.0])


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (state([], [1.0]), "names no joints"),
        (state(["hip", "nkee_joint"], [1.0, 2.0]), "'nkee_joint'; did you mean 'knee_joint'"),
        (state(["hip", "hip"], [1.0, 2.0]), "twice"),
        (state(["hip"], [1.0, 2.0]), "2 numbers for position, and 1 joints"),
        (state(["hip"], [np.inf]), "infinite"),
        (state(["hip"]), "no positions, velocities or efforts"),
        (state(["hip"], [1.0], [1.0, 2.0]), "for velocity"),
    ],
)
def test_a_wrong_message_is_refused_as_a_whole(targets, message, words):
    found, complaints = targets

    found.take("/joint_command", lambda: message, found.follow_state)

    [text] = complaints
    assert words in text
    assert "/joint_command" in text
    assert np.isnan(found.commands.position).all()


def test_numbers_without_names_are_in_the_order_of_the_table(targets):
    found, complaints = targets

    found.take("/c", lambda: {"data": np.array([1.0, NAN, 3.0])}, found.follow_numbers, "velocity")
    found.take("/c", lambda: {"data": np.array([1.0, 2.0])}, found.follow_numbers, "velocity")

    np.testing.assert_equal(found.commands.velocity, [1.0, NAN, 3.0])
    assert "2 numbers for velocity, and 3 joints" in complaints[0]


def trajectory(names, points, at=0):
    def time(seconds):
        return {"sec": int(seconds), "nanosec": round(1e9 * (seconds % 1.0))}

    return {
        "header": {"stamp": time(at)},
        "joint_names": names,
        "points": [{"positions": np.array(each), "time_from_start": time(after)} for after, each in points],
    }


def test_a_trajectory_goes_from_the_present_positions_at_even_speed(targets):
    found, _ = targets
    here = np.array([0.2, 0.0, 0.0])

    found.follow_trajectory(trajectory(["hip", "toe"], [(1.0, [1.2, 0.4]), (1.5, [0.2, 0.4])]), 100.0, here)

    for now, hip, toe in ((100.0, 0.2, 0.0), (100.5, 0.7, 0.2), (101.0, 1.2, 0.4), (101.25, 0.7, 0.4), (109.0, 0.2, 0.4)):
        np.testing.assert_allclose(found.at(now).position, [hip, NAN, toe], atol=1e-9)


def test_a_stamp_delays_a_trajectory_and_another_message_ends_it(targets):
    found, complaints = targets
    here = np.zeros(3)

    found.follow_trajectory(trajectory(["hip"], [(1.0, [1.0])], at=102), 100.0, here)
    before, amid = found.at(101.9).position[0], found.at(102.5).position[0]
    found.follow_state(state(["hip"], [0.3]))
    after = found.at(103.0).position[0]
    found.take("/t", lambda: trajectory(["hip"], [(1.0, [1.0]), (1.0, [2.0])]), found.follow_trajectory, 100.0, here)

    assert [before, amid, after] == pytest.approx([0.0, 0.5, 0.3])
    assert "do not follow each other in time" in complaints[0]
