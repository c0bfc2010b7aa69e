"""Laws of a group of actuators: their tables mean the same motion at first, and vary what they should."""

import attrs
import numpy as np
import pytest
from pippin import ConfigError
from pippin_judge.laws import BEFORE, LAWS, Group, Loads

JOINTS = ("robot/hip", "robot/knee")
LOADS = Loads(
    pull=np.array([30.0, 12.0]),
    effort=np.array([20.0, 10.0]),
    speed=np.array([4.0, 5.0]),
    is_explained=False,
    limit=0.5,
)
PD = Group(
    label="leg",
    kind="pd",
    joints=JOINTS,
    table={"type": "pd", "joints": [".*"], "kp": 60.0, "kd": 2.0, "armature": 0.05, "friction": 0.3},
    parameters={
        "kp": {"range": [5.0, 500.0], "each": "group"},
        "armature": {"range": [0.01, 1.0]},
        "friction": {"range": [0.0, 2.0]},
    },
    numbers={
        "kp": np.array([60.0, 60.0]),
        "kd": np.array([2.0, 1.5]),
        "armature": np.array([0.05, 0.05]),
        "friction": np.array([0.3, 0.3]),
        "damping": np.array([0.1, 0.2]),
    },
)


def numbers_of(table, key):
    *places, last = key.split(".")
    for place in places:
        table = table[place]
    return np.array(list(table[last].values()))


@pytest.mark.alone
def test_a_servo_pulls_at_first_as_the_spring_and_the_damper_do():
    """k = kt V g kp / R, d = kt² / R, and the largest effort kt V d_max / R."""
    table, parameters = PD.under("servo-m3", LOADS, JOINTS)

    kt, volts, kp, duty, ohms = (numbers_of(table, key) for key in ("kt", "voltage", "kp", "max_duty", "resistance"))
    np.testing.assert_allclose(kt * volts * kp / ohms, 60.0, rtol=1e-6)
    np.testing.assert_allclose(kt**2 / ohms, [2.0, 1.5], rtol=1e-6)
    np.testing.assert_allclose(kt * volts * duty / ohms, 0.5 * LOADS.pull, rtol=1e-6)
    np.testing.assert_allclose(numbers_of(table, "friction.kc"), 0.3)
    np.testing.assert_allclose(numbers_of(table, "friction.kv"), [0.1, 0.2])
    assert table["friction"]["type"] == "m3"
    varied = {"armature", "kp", "kt", "max_duty", "friction.kc", "friction.kl"}
    assert parameters.keys() == {f"actuators.leg.{name}" for name in varied}


def test_a_servo_is_the_same_spring_again():
    table, _ = PD.under("servo-m1", LOADS, JOINTS)
    keys = ("kt", "voltage", "kp", "gain", "resistance", "friction.kc", "friction.kv", "armature")
    servo = attrs.evolve(PD, kind="servo", numbers={key: numbers_of(table, key) for key in keys})

    stiffness, damping, dry = servo.spring

    np.testing.assert_allclose(stiffness, 60.0, rtol=1e-6)
    np.testing.assert_allclose(damping, [2.1, 1.7], rtol=1e-6)
    np.testing.assert_allclose(dry, 0.3)


def test_a_servo_whose_firmware_sets_a_current_has_its_damping():
    """i = g kp (q* - q) - c √kp q̇, and τ = kt i."""
    numbers = {"kt": 2.0, "gain": 0.5, "kp": 16.0, "damping_factor": 0.1, "friction.kv": 0.3, "friction.kc": 0.2}
    servo = attrs.evolve(PD, kind="servo", numbers={key: np.full(2, each) for key, each in numbers.items()})

    assert [each[0] for each in servo.spring] == pytest.approx([2.0 * 0.5 * 16.0, 2.0 * 0.1 * 4.0 + 0.3, 0.2])


def test_a_limit_that_a_fit_found_stays_unless_another_one_is_asked_for():
    numbers = {key: numbers_of(PD.under("servo-m1", LOADS, JOINTS)[0], key) for key in ("kt", "voltage", "kp", "gain")}
    numbers |= {"resistance": np.ones(2), "max_duty": np.full(2, 0.4), "friction.kc": np.full(2, 0.3)}
    servo = attrs.evolve(PD, kind="servo", numbers=numbers)

    kept, asked = (servo.under("servo-m3", attrs.evolve(LOADS, limit=limit), JOINTS)[0] for limit in (None, 0.5))

    np.testing.assert_allclose(numbers_of(kept, "max_duty"), 0.4)
    reach = numbers_of(asked, "kt") * numbers_of(asked, "voltage") * numbers_of(asked, "max_duty")
    np.testing.assert_allclose(reach, 0.5 * LOADS.pull, rtol=1e-6)


def test_a_motor_begins_within_its_limits_and_keeps_what_the_file_says():
    table, parameters = PD.under("dc-motor", LOADS, JOINTS[:1])

    np.testing.assert_allclose(numbers_of(table, "saturation_effort"), 0.5 * LOADS.effort)
    assert (numbers_of(table, "velocity_limit") > LOADS.speed).all()
    assert parameters["actuators.leg.armature"] == {"range": [0.01, 1.0]}
    assert parameters["actuators.leg.kp"]["each"] == "group"
    assert parameters["actuators.leg.kd"]["joints"] == ["robot/hip"]


def test_a_friction_that_a_wider_law_adds_begins_with_none_where_nothing_is_left():
    some, none = (
        PD.under("servo-m6", attrs.evolve(LOADS, is_explained=each), JOINTS)[0]["friction"] for each in (False, True)
    )

    added = ("kcs", "km", "ke", "kms", "kes", "kmq", "keq")
    assert all(min(some[name].values()) > 0.0 for name in added)
    assert all(max(none[name].values()) == 0.0 for name in added)


@pytest.mark.parametrize("law", LAWS)
def test_all_starts_are_within_their_ranges(law):
    table, parameters = PD.under(law, LOADS, JOINTS)

    for key, parameter in parameters.items():
        values = numbers_of(table, key.removeprefix("actuators.leg."))
        assert (values >= parameter["range"][0]).all(), key
        assert (values <= parameter["range"][1]).all(), key


def test_a_damping_that_varies_takes_the_place_of_the_gain():
    damped = attrs.evolve(PD, parameters={"damping": {"range": [0.0, 5.0]}})

    assert "actuators.leg.kd" not in damped.under("pd", LOADS, JOINTS)[1]
    assert "actuators.leg.kd" in PD.under("pd", LOADS, JOINTS)[1]


def test_a_law_without_a_stiffness_names_the_cure():
    with pytest.raises(ConfigError, match=r"actuators\.leg: 'neural' has no stiffness .* --law FILE\.toml"):
        attrs.evolve(PD, kind="neural").under("pd", LOADS, JOINTS)


def test_the_law_of_a_file_has_a_name_if_all_of_it_varies():
    varied = {key: {"range": [0.0, 100.0]} for key in ("kp", "kd", "friction")}
    servo = attrs.evolve(PD, kind="servo", table={"friction": {"type": "m3"}})

    assert attrs.evolve(PD, parameters=varied).law == "pd"
    assert PD.law is None
    assert attrs.evolve(servo, parameters={"friction.kc": {}, "friction.kl": {}}).law == "servo-m3"
    assert attrs.evolve(servo, parameters={"friction.kc": {}}).law is None


def test_a_law_is_wider_than_those_before_it():
    assert BEFORE.keys() == set(LAWS)
    assert all(LAWS.index(each) < LAWS.index(law) for law, before in BEFORE.items() for each in before)
