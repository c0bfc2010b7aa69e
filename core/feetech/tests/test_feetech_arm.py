"""What registers do to the simulated arm, by Feetech's own library."""

import numpy as np
import pytest
from pippin_feetech import bus

from .arm import JOINTS, TICK, Arm
from .client import Client

P, PROTECTIVE, PATIENCE, MOST_LOAD, TORQUE_LIMIT = 21, 34, 35, 36, 48


@pytest.fixture
def make_arm(tmp_path):
    """Return a function that makes the arm, and a client of it."""
    made = []

    def build(**options):
        arm = Arm(tmp_path / "bus", **options)
        client = Client(tmp_path / "bus")
        made.extend([client, arm])
        return arm, client

    yield build
    for each in made:
        each.close()


def hold(client, arm, seconds=0.5):
    """Give torque to all servos at the places where they are."""
    told = client.sync_read(range(1, 7), bus.POSITION)
    client.sync_write(dict(enumerate(told, 1)), bus.GOAL)
    for number in range(1, 7):
        client.write(number, bus.TORQUE, 1, 1)
    arm.step(seconds)


def test_the_arm_falls_without_torque_and_stands_with_it(make_arm):
    arm, client = make_arm()
    start = arm.position("shoulder_lift")
    hold(client, arm, 1.0)
    assert arm.position("shoulder_lift") == pytest.approx(start, abs=0.06)
    client.write(2, bus.TORQUE, 0, 1)
    arm.step(1.0)
    assert arm.position("shoulder_lift") > start + 0.8
    told = client.sync_read(range(1, 7), bus.POSITION)
    assert (np.array(told) - 2048) * TICK == pytest.approx([arm.position(name) for name in JOINTS], abs=TICK)


def test_a_goal_is_reached_and_more_gain_sags_less(make_arm):
    arm, client = make_arm()
    hold(client, arm)
    client.write(1, bus.GOAL, 2048 + 228)  # 20 degrees
    sags = {}
    for gain in (16, 32):
        client.write(2, P, gain, 1)
        arm.step(1.0)
        sags[gain] = abs(client.read(2, bus.GOAL) - client.read(2, bus.POSITION))
    assert arm.position("shoulder_pan") == pytest.approx(228 * TICK, abs=4 * TICK)
    assert sags[16] > 1.5 * sags[32] > 0


def test_the_torque_limit_lets_the_lift_sink(make_arm):
    arm, client = make_arm()
    hold(client, arm)
    before = arm.position("shoulder_lift")
    client.write(2, TORQUE_LIMIT, 20)
    arm.step(1.0)
    assert arm.position("shoulder_lift") > before + 0.3


def test_an_overloaded_servo_keeps_little_torque_until_its_goal_lies_the_other_way(make_arm):
    arm, client = make_arm()
    hold(client, arm)
    before = arm.position("shoulder_lift")
    load = client.read(2, bus.POSITION + 4) & 0x3FF
    client.write(2, PROTECTIVE, 1, 1)
    client.write(2, PATIENCE, 30, 1)  # 0.3 s
    client.write(2, MOST_LOAD, load // 20, 1)  # half of what it holds
    arm.step(0.25)
    assert client.ping(2) == (777, 0)
    assert arm.position("shoulder_lift") == pytest.approx(before, abs=0.05)
    arm.step(1.0)
    assert client.ping(2) == (777, 32)
    assert client.ping(3) == (777, 0)
    assert arm.position("shoulder_lift") > before + 0.3
    client.write(2, MOST_LOAD, 0, 1)  # it is overloaded still: a load that counts no more frees nothing
    arm.step(0.1)
    assert client.ping(2) == (777, 32)

    client.write(2, bus.GOAL, client.read(2, bus.POSITION)[0] + 100)
    arm.step(0.1)
    assert client.ping(2) == (777, 0)
    client.write(2, bus.GOAL, 2048 + round(before / TICK))
    arm.step(2.0)
    assert arm.position("shoulder_lift") == pytest.approx(before, abs=0.1)


def test_a_load_for_a_short_time_is_no_overload_and_torque_off_ends_one(make_arm):
    arm, client = make_arm()
    hold(client, arm)
    client.write(2, MOST_LOAD, 1, 1)
    client.write(2, PATIENCE, 20, 1)
    arm.step(0.15)
    client.write(2, MOST_LOAD, 100, 1)
    arm.step(0.02)
    client.write(2, MOST_LOAD, 1, 1)
    arm.step(0.15)
    assert client.ping(2) == (777, 0)
    arm.step(0.15)
    assert client.ping(2) == (777, 32)

    client.write(2, bus.TORQUE, 0, 1)
    client.write(2, MOST_LOAD, 0, 1)
    arm.step(0.05)
    assert client.ping(2) == (777, 0)


def test_heat_of_one_motor_is_told_when_the_file_says_so(make_arm):
    fault = {"kind": "heat", "start": 0.5, "value": 75.0, "joints": ["elbow_flex"]}
    arm, client = make_arm(robot__emulate__faults=[fault])
    assert client.ping(3) == (777, 0)
    arm.step(0.55)
    assert client.ping(3)[1] == 4
    assert client.read(3, 63, 1) == (75, 4)
    assert client.ping(2) == (777, 0)


def test_a_hand_waits_for_the_homing_and_lets_go_of_motors_with_torque(make_arm):
    """As LeRobot asks for it: the middle, until the offsets are written; then the range; then torque."""
    arm, client = make_arm(hand="sweep")
    joints = arm.emulator.plan.joints
    middle = [0.5 * (joint.lower + joint.upper) for joint in joints]
    arm.step(6.0)
    assert [arm.position(name) for name in JOINTS] == pytest.approx(middle, abs=TICK)
    for number, told in enumerate(client.sync_read(range(1, 7), bus.POSITION), 1):
        client.write(number, bus.OFFSET, bus.unsigned(told - 2047, 11))
    seen = []
    for _ in range(60):
        arm.step(0.1)
        seen.append([arm.position(name) for name in JOINTS])
    share = np.ptp(seen, axis=0) / [joint.upper - joint.lower for joint in joints]
    assert share == pytest.approx(np.full(6, 0.98), abs=0.02)
    hold(client, arm)
    client.write(2, bus.TORQUE, 0, 1)
    arm.step(1.0)
    assert arm.position("shoulder_lift") > middle[1] + 0.3


def test_a_waving_hand_moves_what_has_no_torque(make_arm):
    arm, client = make_arm(hand="wave")
    client.write(1, bus.GOAL, 2048)
    client.write(1, bus.TORQUE, 1, 1)
    seen = []
    for _ in range(50):
        arm.step(0.1)
        seen.append([arm.position(name) for name in JOINTS])
    ways = np.ptp(seen[10:], axis=0)
    assert ways[0] < 0.1
    assert (ways[1:] > 0.7).all()


def test_a_calibration_is_that_of_the_range(make_arm, tmp_path):
    """The middle of a joint's range reads 2047, its ends the limits, and the file says the same."""
    import json

    arm, client = make_arm(calibrated=tmp_path / "calibration")
    table = json.loads((tmp_path / "calibration" / "bus.json").read_text())
    for number, joint in enumerate(arm.emulator.plan.joints, 1):
        own = table[joint.name]
        assert (own["id"], own["drive_mode"]) == (number, 0)
        assert own["homing_offset"] == bus.signed(client.read(number, bus.OFFSET), 11)
        assert (own["range_min"], own["range_max"]) == (client.read(number, 9), client.read(number, 11))
        assert own["range_max"] - own["range_min"] == pytest.approx((joint.upper - joint.lower) / TICK, abs=1)
        assert 0.5 * (own["range_max"] + own["range_min"]) == pytest.approx(2047, abs=1)
        place = joint.start / TICK - 0.5 * (joint.lower + joint.upper) / TICK + 2047
        assert client.read(number, bus.POSITION) == pytest.approx(place, abs=1.5)


def test_a_goal_is_approached_by_speed_and_acceleration(make_arm):
    """The target runs along a trapezoid: 1000 counts at 500 counts/s, with 500 counts/s²."""
    arm, client = make_arm()
    hold(client, arm)
    client.write(1, 46, 500)
    client.write(1, bus.GOAL, 3048)
    arm.step(1.0)
    assert arm.position("shoulder_pan") == pytest.approx(500 * TICK, abs=0.06)
    arm.step(1.5)
    assert arm.position("shoulder_pan") == pytest.approx(1000 * TICK, abs=4 * TICK)
    client.write(1, 41, 5, 1)
    client.write(1, bus.GOAL, 2048)
    arm.step(1.0)  # 250 counts until the speed is reached
    assert arm.position("shoulder_pan") == pytest.approx(750 * TICK, abs=0.06)
    arm.step(2.5)
    assert arm.position("shoulder_pan") == pytest.approx(0.0, abs=4 * TICK)
    client.write(1, 46, 0)
    client.write(1, 41, 0, 1)
    client.write(1, bus.GOAL, 2548)
    arm.step(0.6)
    assert arm.position("shoulder_pan") == pytest.approx(500 * TICK, abs=0.06)
