"""The table of a robot of LeRobot: its numbers are stated, and nothing about them is guessed."""

import math
import sys

import pytest
from pippin.errors import ConfigError
from pippin_robot import DrivenJoint
from pippin_robot.configs import LeRobotJointConfig, LeRobotRobotConfig
from pippin_robot.lerobot_driver import LeRobotRobot


@pytest.mark.alone
@pytest.mark.parametrize(
    ("keys", "position", "number"),
    [
        ({"unit": "degrees", "zero": 10.0}, 0.5, 10.0 + math.degrees(0.5)),
        ({"unit": "degrees", "zero": 10.0, "sign": -1}, 0.5, 10.0 - math.degrees(0.5)),
        ({"unit": "radians", "zero": 0.0}, 0.5, 0.5),
        ({"unit": "range_0_100", "range": (-1.0, 3.0)}, 0.0, 25.0),
        ({"unit": "range_m100_100", "range": (2.0, -2.0)}, 1.0, -50.0),
    ],
)
def test_a_position_is_the_number_that_lerobot_has(keys, position, number):
    factor, zero = LeRobotJointConfig(**keys).scale
    assert factor * position + zero == pytest.approx(number)


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"unit": "degrees"}, "'zero' is missing; give it with unit 'degrees'"),
        ({"unit": "range_0_100"}, "'range' is missing; give it with unit 'range_0_100'"),
        ({"unit": "degrees", "zero": 0.0, "range": (0.0, 1.0)}, "'range' is not used with unit 'degrees'"),
        ({"unit": "range_0_100", "range": (1.0, 1.0)}, "'range' must be two different positions"),
        ({"unit": "range_0_100", "range": (0.0, math.inf)}, "'range' must be two different positions"),
        ({"unit": "range_0_100", "range": (0.0, 1.0), "sign": -1}, "'sign' is not used with a range"),
    ],
)
def test_numbers_without_a_meaning_are_refused(keys, fault):
    with pytest.raises(ValueError, match=fault):
        LeRobotJointConfig(**keys)


def joint(*, is_angle=True):
    return DrivenJoint(
        name="lift", lower=0.0, upper=1.0, velocity_limit=1.0, effort_limit=1.0, start=0.0, is_angle=is_angle
    )


def test_a_slide_has_no_degrees():
    config = LeRobotRobotConfig(robot={"type": "x"}, joints={"lift": LeRobotJointConfig(unit="degrees", zero=0.0)})
    with pytest.raises(ConfigError, match=r"robot.joints.lift.unit: it slides, and degrees are an angle"):
        LeRobotRobot(config).connect([joint(is_angle=False)])


def test_without_lerobot_the_cure_is_told(monkeypatch):
    """As in an environment without LeRobot, also where it is installed."""
    monkeypatch.setitem(sys.modules, "lerobot", None)
    config = LeRobotRobotConfig(robot={"type": "x"}, joints={"lift": LeRobotJointConfig(unit="degrees", zero=0.0)})
    with pytest.raises(ConfigError, match="install Pippin into LeRobot's environment"):
        LeRobotRobot(config).connect([joint()])
