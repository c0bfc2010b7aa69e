"""Limits on targets, against formulas."""

import attrs
import numpy as np
import pytest
from pippin_robot import DrivenJoint, RobotConfig, RobotFault, RobotJointConfig, RobotLimitsConfig, RobotReadings
from pippin_robot.limits import TargetLimits, refuse_readings

PERIOD = 0.01

JOINTS = [
    DrivenJoint(name="pan", lower=-1.0, upper=1.0, velocity_limit=5.0, effort_limit=1.0, start=0.0),
    DrivenJoint(name="lift", lower=-0.5, upper=0.5, velocity_limit=np.inf, effort_limit=1.0, start=0.0),
]


def limits(**keys):
    joints = {joint.name: RobotJointConfig() for joint in JOINTS}
    made = TargetLimits(RobotConfig(joints=joints, limits=RobotLimitsConfig(**keys)), JOINTS, PERIOD)
    made.begin(np.zeros(2))
    return made


def test_targets_keep_a_margin_from_the_limits_of_joints():
    made = limits(position_margin=0.1)
    for _ in range(200):
        found = made.apply(np.array([2.0, -2.0]), np.zeros(2))

    assert found == pytest.approx([0.9, -0.4])
    assert made.counts["position"] == {"pan": 200, "lift": 200}


def test_targets_move_with_the_largest_speed():
    made = limits(velocity={"pan": 2.0, "lift": 0.5})
    found = np.array([made.apply(np.array([0.8, -0.4]), np.zeros(2)) for _ in range(100)])

    assert found[19] == pytest.approx([2.0 * 0.2, -0.5 * 0.2])
    assert made.counts["velocity"]["pan"] == 39  # the 40th step arrives
    assert found[-1] == pytest.approx([0.8, -0.4])


def test_the_speed_of_targets_changes_with_the_largest_acceleration():
    made = limits(acceleration=10.0)
    found = np.array([made.apply(np.array([0.9, 0.0]), np.zeros(2)) for _ in range(10)])
    speeds = np.diff(np.concatenate([[0.0], found[:, 0]])) / PERIOD

    assert np.diff(speeds) == pytest.approx(10.0 * PERIOD)
    assert made.summary() == {"velocity": {"pan": 10}, "acceleration": {"pan": 10}}


def test_a_target_is_near_the_measured_position():
    made = limits(step=0.05)

    assert made.apply(np.array([0.04, 0.3]), np.array([0.0, 0.2])) == pytest.approx([0.04, 0.25])
    assert made.acted.tolist() == [0, 8]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"position": [0.0, 0.8]}, "position"),
        ({"temperature": [20.0, 61.0]}, "heat"),
        ({"voltage": [5.0, 7.0]}, "voltage"),
        ({"orientation": [0.5, 0.0, 0.0, np.sqrt(0.75)]}, "tilt"),
    ],
)
def test_a_reading_out_of_bounds_is_a_fault(change, kind):
    safety = attrs.evolve(RobotConfig(joints={}).safety, voltage=(6.0, 8.4), tilt=0.8)
    readings = RobotReadings(2)
    readings.position[:] = 0.0
    refuse_readings(readings, JOINTS, safety)
    for name, value in change.items():
        getattr(readings, name)[:] = value

    with pytest.raises(RobotFault) as caught:
        refuse_readings(readings, JOINTS, safety)
    assert caught.value.kind == kind
