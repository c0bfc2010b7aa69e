import copy
import pickle
import re

import pytest
from pippin.errors import ConfigError
from pippin.labels import AxisLabel, assign, lookup, match, matches

BODIES = ["ant/worldbody/torso", "ant/worldbody/torso/front_leg", "ant/worldbody/torso/front_leg/foot"]
JOINTS = ["ant/hip_1", "ant/ankle_1", "ant/hip_2", "ant/ankle_2"]


def faults(function, *arguments) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        function(*arguments)
    return caught.value.faults


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ("torso", [0]),
        (["foot", "torso"], [0, 2]),
        ([".*foot", "foot"], [2]),
        (["ant/worldbody/torso/front_leg"], [1]),
        ([".*torso.*"], [0]),
        (["ant/.*"], [0, 1, 2]),
        (["[^/]*o[^/]*"], [0, 1, 2]),
    ],
)
def test_a_pattern_covers_the_name_or_with_a_slash_the_path(patterns, expected):
    assert match(patterns, BODIES, "body", "sensors.torso.body") == expected


def test_a_joint_below_a_hip_is_not_a_hip():
    """The labels of an MJCF file whose bodies have the names of their joints."""
    joints = ["g1/pelvis/left_hip_link/left_hip_joint", "g1/pelvis/left_hip_link/left_knee_link/left_knee_joint"]

    assert match(".*hip.*", joints, "joint", "actuators.legs.joints") == [0]


def test_a_numbered_axis_is_matched_by_its_joints_name_too():
    label = AxisLabel("arm/wrist:1")

    assert [matches(re.compile(text), label) for text in ("wrist:1", "wrist", "arm/wrist", "wrist:0")] == [1, 1, 1, 0]
    assert not matches(re.compile("wrist"), "arm/wrist:1")


@pytest.mark.parametrize("passed_on", [copy.deepcopy, lambda label: pickle.loads(pickle.dumps(label))])
def test_a_numbered_axis_stays_one(passed_on):
    label = passed_on(AxisLabel("arm/wrist:1"))

    assert label.joint == "arm/wrist"


def test_every_world_is_matched():
    assert match("torso", BODIES * 3, "body", "sensors.torso.body") == [0, 3, 6]


@pytest.mark.parametrize("pattern", ["tors", "orso", "worldbody", "torso/foot"])
def test_part_of_a_segment_is_not_a_match(pattern):
    with pytest.raises(ConfigError, match=f"no body matches '{pattern}'"):
        match(pattern, BODIES, "body", "sensors.torso.body")


def test_an_unmatched_pattern_names_the_place_the_nearest_name_and_all_names():
    assert faults(match, "torzo", BODIES, "body", "sensors.torso.body") == (
        "sensors.torso.body: no body matches 'torzo'; did you mean 'torso'? bodies: torso, front_leg, foot",
    )


def test_a_misspelt_expression_has_a_nearest_name_too():
    [fault] = faults(match, ".*hipp_1", JOINTS, "joint", "actuators.legs.joints")

    assert "did you mean 'hip_1'?" in fault


def test_long_lists_of_names_are_cut():
    labels = [f"leg{i}" for i in range(40)]

    [fault] = faults(match, "qqq", labels, "joint", "actuators.legs.joints")

    assert fault.endswith("leg10, leg11 and 28 more")


def test_every_pattern_must_match_something():
    assert len(faults(match, ["torso", "wing", "("], BODIES, "body", "sensors.torso.body")) == 2


def test_a_malformed_expression_is_named_with_its_error():
    [fault] = faults(match, "torso[", BODIES, "body", "sensors.torso.body")

    assert fault.startswith("sensors.torso.body: 'torso[' is not a regular expression (unterminated character set")


def test_a_model_without_labels_says_so():
    [fault] = faults(match, ".*", [], "joint", "actuators.legs.joints")

    assert fault.endswith("there are no joints")


def test_one_value_serves_every_joint():
    assert lookup(1.5, JOINTS, "actuators.legs.kd") == [1.5] * 4


def test_a_table_gives_each_joint_the_value_of_its_pattern():
    assert lookup({".*hip.*": 40, ".*ankle.*": 25.0}, JOINTS, "actuators.legs.kp") == [40.0, 25.0, 40.0, 25.0]


def test_a_joint_without_a_pattern_is_named_with_the_patterns():
    assert faults(lookup, {".*hip.*": 40.0}, JOINTS * 2, "actuators.legs.kp") == (
        "actuators.legs.kp: no pattern matches joint 'ant/ankle_1'; add one to the patterns: '.*hip.*'",
        "actuators.legs.kp: no pattern matches joint 'ant/ankle_2'; add one to the patterns: '.*hip.*'",
    )


def test_a_joint_with_two_patterns_is_named_with_both():
    [fault] = faults(lookup, {".*": 40.0, "hip_2": 25.0}, JOINTS, "actuators.legs.kp")

    assert "joint 'ant/hip_2' matches both '.*' and 'hip_2'" in fault


def test_a_pattern_of_a_table_must_match_something():
    [fault] = faults(lookup, {".*": 40.0, "knee_1": 25.0}, JOINTS, "actuators.legs.kp")

    assert "no joint matches 'knee_1'" in fault


def test_labels_outside_every_pattern_have_no_owner():
    assert assign(["hip_1"], JOINTS, "joint", "scene.assets[0].joint_positions") == ["hip_1", None, None, None]
