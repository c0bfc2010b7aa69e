"""A simulation in LeRobot's numbers: units, limits, time, and what is refused."""

import math
import time

import pytest
from lerobot_env_pippin.body import RobotBody, scales
from pippin import ConfigError
from pippin_robot import DrivenJoint

POLE = """<mujoco><worldbody><body pos="0 0 0.5"><joint name="hinge" axis="0 1 0" range="-30 90"/>
<geom type="capsule" size="0.1" fromto="0 0 0 0 0 0.4"/></body></worldbody></mujoco>"""

FILE = """
[simulation]
device = "cpu"
dt = 0.01
[scene]
assets = [{ path = "pole.xml" }]
[solver]
type = "featherstone"
[actuators.pole]
type = "pd"
joints = ["hinge"]
kp = 400.0
kd = 20.0
[motions.lean]
type = "sine"
actuator = "pole"
joints = ["hinge"]
amplitude = 0.3
frequency = 1.0
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "pole.xml").write_text(POLE)
    (tmp_path / "pole.toml").write_text(FILE)
    return str(tmp_path / "pole.toml")


@pytest.fixture
def make(file):
    made = []

    def build(**options):
        made.append(RobotBody(file, **options))
        made[-1].begin()
        return made[-1]

    yield build
    for body in made:
        body.close()


def joint(name, lower, upper, is_angle=True):
    return DrivenJoint(
        name=name,
        lower=lower,
        upper=upper,
        velocity_limit=math.inf,
        effort_limit=math.inf,
        start=0.0,
        is_angle=is_angle,
    )


@pytest.mark.alone
@pytest.mark.parametrize(
    ("unit", "zero", "position", "number"),
    [
        ("degrees", "joint", 0.5, math.degrees(0.5)),
        ("degrees", "middle", 0.5, 0.0),
        ("radians", "joint", -1.0, -1.0),
        ("range_m100_100", "joint", -1.0, -100.0),
        ("range_m100_100", "middle", 1.25, 50.0),
        ("range_0_100", "joint", 2.0, 100.0),
        ("range_0_100", "joint", 0.5, 50.0),
    ],
)
def test_numbers_are_those_of_lerobot(unit, zero, position, number):
    factors, sums = scales([joint("elbow", -1.0, 2.0)], unit, {}, zero)
    assert position * factors[0] + sums[0] == pytest.approx(number)


@pytest.mark.alone
@pytest.mark.parametrize(
    ("joints", "unit", "units", "zero", "fault"),
    [
        ([joint("a", -1.0, 1.0)], "turns", {}, "joint", "units: a has no unit 'turns'; choose one of degrees"),
        ([joint("a", -1.0, 1.0)], "degrees", {"b": "degrees"}, "joint", "units: there is no joint 'b'; joints: a"),
        ([joint("a", -1.0, math.inf)], "range_0_100", {}, "joint", "units: a has no limits"),
        ([joint("a", -math.inf, 1.0)], "degrees", {}, "middle", "units: a has no limits"),
        ([joint("a", 0.0, 1.0, False)], "degrees", {}, "joint", "no unit 'degrees'; choose one of range_m100_100"),
        ([joint("a", 0.0, 1.0)], "degrees", {}, "end", "zero: 'end' is neither 'joint' nor 'middle'"),
    ],
)
def test_numbers_that_nobody_knows_are_refused(joints, unit, units, zero, fault):
    with pytest.raises(ConfigError, match=fault):
        scales(joints, unit, units, zero)


def test_an_action_takes_the_period_of_its_rate_and_is_followed_within_limits(make):
    body = make(rate=20)
    assert body.observed() == pytest.approx({"hinge.pos": 0.0}, abs=1e-6)
    start = float(body.simulation.time)
    for _ in range(20):
        sent = body.command({"hinge.pos": 120.0})
        body.advance(is_action=True)
        body.advance(is_action=False)
    assert sent == pytest.approx({"hinge.pos": 90.0}, abs=1e-3)
    assert float(body.simulation.time) - start == pytest.approx(1.0)
    assert body.observed()["hinge.pos"] > 80.0


def test_without_a_rate_it_keeps_up_with_the_clock(make):
    body = make()
    start, begin = time.monotonic(), float(body.simulation.time)
    for _ in range(10):
        time.sleep(0.03)
        body.advance(is_action=True)
        body.advance(is_action=False)
    assert float(body.simulation.time) - begin == pytest.approx(time.monotonic() - start, abs=0.05)


def test_motions_act_only_in_a_leader(make):
    body, leader = make(rate=10), make(rate=10, keeps_motions=True)
    seen = []
    for _ in range(10):
        body.advance(is_action=True)
        leader.advance(is_action=True)
        seen.append(leader.targets()["hinge.pos"])
    assert max(seen) == pytest.approx(math.degrees(0.3), rel=0.06)
    assert abs(body.observed()["hinge.pos"]) < 5.0


@pytest.mark.parametrize(
    ("action", "fault"),
    [
        ({}, "action: 'hinge.pos' is missing or unknown"),
        ({"hinge.pos": 1.0, "other.pos": 1.0}, "action: 'other.pos' is missing or unknown"),
        ({"hinge.pos": math.nan}, "action: not finite"),
    ],
)
def test_actions_that_do_not_fit_are_refused(make, action, fault):
    with pytest.raises(ConfigError, match=fault):
        make(rate=10).command(action)


def test_files_and_rates_that_do_not_fit_are_refused(file):
    with pytest.raises(ConfigError, match=r"rate: 30 Hz is no whole number of steps of 0.01 s; choose 33.3333"):
        RobotBody(file, rate=30)
    with pytest.raises(ConfigError, match="worlds"):
        RobotBody(file, overrides={"scene.worlds": "2"})
    with pytest.raises(ConfigError, match="cameras: no sensor 'front'"):
        RobotBody(file, cameras=["front"])
