"""What messages command, by the rules of the page *ROS 2 without ROS*."""

import numpy as np
import pytest
from pippin_ros2 import Ros2Config, RosJointConfig
from pippin_ros2.joints import JointNames, TopicTargets

NAN = np.nan
NONE = np.array([])
HERE = np.zeros(3)


@pytest.fixture
def targets():
    knee = RosJointConfig(name="knee_joint", sign=-1, zero=0.5)
    joints = {"hip": RosJointConfig(), "knee": knee, "toe": RosJointConfig()}
    return TopicTargets(JointNames(Ros2Config(joints=joints)), "velocity")


def state(names, position=NONE, velocity=NONE, effort=NONE):
    return {
        "name": names,
        "position": np.array(position),
        "velocity": np.array(velocity),
        "effort": np.array(effort),
    }


def test_a_joint_without_a_name_or_a_number_keeps_its_target(targets):
    for message in (state(["toe", "hip"], [1.0, 2.0]), state(["hip", "toe"], [NAN, 3.0], effort=[0.5, NAN])):
        targets.follow_state(message, 0.0, HERE)

    np.testing.assert_equal(targets.commands.position, [2.0, NAN, 3.0])
    np.testing.assert_equal(targets.commands.effort, [0.5, NAN, NAN])
    np.testing.assert_equal(targets.commands.velocity, [NAN, NAN, NAN])


def test_signs_and_zeros_are_taken_off(targets):
    targets.follow_state(state(["knee_joint"], [0.7], [2.0], [3.0]), 0.0, HERE)

    row = [targets.commands.position[1], targets.commands.velocity[1], targets.commands.effort[1]]
    np.testing.assert_allclose(row, [-0.2, -2.0, -3.0])
    np.testing.assert_allclose(targets.names.told(np.array([0.0, -0.2, 0.0])), [0.0, 0.7, 0.0])


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
    with pytest.raises(ValueError, match=words):
        targets.follow_state(message, 0.0, HERE)

    assert np.isnan(targets.commands.position).all()


def test_numbers_without_names_are_in_the_order_of_the_table(targets):
    targets.follow_numbers({"data": np.array([1.0, NAN, 3.0])}, 0.0, HERE)
    with pytest.raises(ValueError, match="2 numbers for velocity, and 3 joints"):
        targets.follow_numbers({"data": np.array([1.0, 2.0])}, 0.0, HERE)

    np.testing.assert_equal(targets.commands.velocity, [1.0, NAN, 3.0])


def trajectory(names, points, at=0):
    def time(seconds):
        return {"sec": int(seconds), "nanosec": round(1e9 * (seconds % 1.0))}

    return {
        "header": {"stamp": time(at)},
        "joint_names": names,
        "points": [{"positions": np.array(each), "time_from_start": time(after)} for after, each in points],
    }


def test_a_trajectory_goes_from_the_present_positions_at_even_speed(targets):
    here = np.array([0.2, 0.0, 0.0])

    targets.follow_trajectory(trajectory(["hip", "toe"], [(1.0, [1.2, 0.4]), (1.5, [0.2, 0.4])]), 100.0, here)

    for now, hip, toe in (
        (100.0, 0.2, 0.0),
        (100.5, 0.7, 0.2),
        (101.0, 1.2, 0.4),
        (101.25, 0.7, 0.4),
        (109.0, 0.2, 0.4),
    ):
        np.testing.assert_allclose(targets.at(now).position, [hip, NAN, toe], atol=1e-9)


def test_a_stamp_delays_a_trajectory_and_another_message_ends_it(targets):
    targets.follow_trajectory(trajectory(["hip"], [(1.0, [1.0])], at=102), 100.0, HERE)
    before, amid = targets.at(101.9).position[0], targets.at(102.5).position[0]
    targets.follow_state(state(["hip"], [0.3]), 102.5, HERE)
    after = targets.at(103.0).position[0]
    with pytest.raises(ValueError, match="do not follow each other in time"):
        targets.follow_trajectory(trajectory(["hip"], [(1.0, [1.0]), (1.0, [2.0])]), 100.0, HERE)

    assert [before, amid, after] == pytest.approx([0.0, 0.5, 0.3])
