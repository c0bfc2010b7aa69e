"""Comparison of two models of MuJoCo: what differs, and how it is said."""

import mujoco
import pytest
from pippin.assets.fidelity import Difference, compare, worded

ARM = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.002" gravity="0 0 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" range="-1 2" limited="true" damping="0.5"/>
      <geom name="rod" type="capsule" size="0.05 0.2" pos="0 0 -0.2"/>
      <body name="lower" pos="0 0 -0.4">
        <joint name="elbow" axis="0 1 0" pos="0 0 0.1"/>
        <joint name="twist" axis="0 0 1"/>
        <geom type="box" size="0.03 0.04 0.2" pos="0.01 0 -0.2"/>
        <geom name="shell" type="sphere" size="0.3" contype="0" conaffinity="0" mass="0"/>
        <site name="hand" pos="0 0 -0.4"/>
      </body>
    </body>
    <body pos="1 0 1"><freejoint/><geom size="0.1" condim="4" friction="0.7 0.1 0.1"/></body>
  </worldbody>
  <tendon>
    <fixed name="belt" stiffness="3"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="-2"/></fixed>
  </tendon>
  <actuator><position name="drive" joint="elbow" kp="30"/><motor tendon="belt" gear="5" ctrlrange="-1 1"/></actuator>
  <equality><joint joint1="twist" joint2="shoulder" polycoef="0 1"/></equality>
</mujoco>
"""


def model(*changes):
    text = ARM
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return mujoco.MjModel.from_xml_string(text)


def test_a_model_equals_itself():
    assert compare(model(), model()) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('damping="0.5"', "", "joint 'shoulder': damping 0.5 → 0"),
        ('range="-1 2"', 'range="-1 1.5"', "joint 'shoulder': range -1 2 → -1 1.5"),
        ('limited="true"', 'limited="false"', "joint 'shoulder': range -1 2 → none"),
        ('pos="0 0 0.1"', "", "joint 'elbow': anchor in the world 0 0 0.7 → 0 0 0.6"),
        (
            'type="box" size="0.03',
            'type="box" mass="6" size="0.04',
            "geom 0 of body 'lower': size 0.03 0.04 0.2 → 0.04 0.04 0.2",
        ),
        ('condim="4"', "", "geom 0 of body 3: condim 4 → 3"),
        ('pos="0 0 -0.4"/>', 'pos="0 0 -0.5"/>', "site 'hand': pos 0 0 -0.4 → 0 0 -0.5"),
        ('kp="30"', 'kp="20"', "actuator 'drive': gainprm 30 → 20"),
        ('gear="5"', 'gear="4"', "actuator 1 on tendon 'belt': gear 5 → 4"),
        ('ctrlrange="-1 1"', "", "actuator 1 on tendon 'belt': ctrlrange -1 1 → none"),
        ('coef="-2"', 'coef="2"', "tendon 'belt': coef of joint 'elbow' -2 → 2"),
        (
            'polycoef="0 1',
            'polycoef="0 3',
            "equality (joint of joint 'twist' and joint 'shoulder'): polycoef 0 1 → 0 3",
        ),
        ('-9.81"', '0"', "option: gravity 0 0 -9.81 → 0"),
        ('gravity="0 0 -9.81"', 'integrator="implicit"', "option: integrator euler → implicit"),
    ],
)
def test_a_number_that_differs_is_said_with_both_values(old, new, said):
    differences = compare(model(), model((old, new)))

    assert said in [str(difference) for difference in differences]
    assert not any(difference.is_by_design for difference in differences)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '<joint name="twist" axis="0 0 1"/>',
            '<joint name="twist" axis="1 0 0"/>',
            "joint 'twist': axis in the world 0 0 1 → 1 0 0",
        ),
        ('name="twist" axis="0 0 1"', 'name="twist" type="slide" axis="0 0 1"', "joint 'twist': type hinge → slide"),
        (
            '<geom name="rod"',
            '<geom name="rod" contype="0" conaffinity="2"',
            "pair geom 'floor' and geom 'rod': can collide yes → no",
        ),
        ('<position name="drive" joint="elbow" kp="30"/>', "", "actuator 'drive': lost"),
        (
            '<joint joint1="twist" joint2="shoulder" polycoef="0 1"/>',
            "",
            "equality (joint of joint 'twist' and joint 'shoulder'): lost",
        ),
        ('<site name="hand" pos="0 0 -0.4"/>', '<body name="tip"><geom size="0.1"/></body>', "body 'tip': added"),
    ],
)
def test_another_mechanism_is_structural(old, new, said):
    differences = compare(model(), model((old, new)))

    assert said in [str(difference) for difference in differences if difference.is_structural]


def test_joints_in_another_order_are_structural():
    elbow, twist = '<joint name="elbow" axis="0 1 0" pos="0 0 0.1"/>', '<joint name="twist" axis="0 0 1"/>'
    swapped = model((elbow, "@"), (twist, elbow), ("@", twist))

    said = worded(compare(model(), swapped))

    assert said == ["2 joints: order in its body 'elbow' 1 → 2, 'twist' 2 → 1"]


def test_a_body_that_only_carries_a_joint_is_not_a_difference():
    lower = '<body name="lower" pos="0 0 -0.4">'
    elbow = '<joint name="elbow" axis="0 1 0" pos="0 0 0.1"/>'
    carrier = '<body name="lower~1" pos="0 0 -0.4"><inertial pos="0 0 0" mass="1e-9" diaginertia="1e-12 1e-12 1e-12"/>'
    split = model(
        (elbow, ""),
        (lower, f'{carrier}{elbow}<body name="lower">'),
        ("</body>\n    </body>", "</body></body>\n    </body>"),
        ("<tendon>", '<contact><exclude body1="upper" body2="lower"/></contact><tendon>'),  # no longer parent and child
    )

    assert compare(model(), split) == []


def test_paths_and_generated_names_are_matched():
    renamed = model(
        ('name="upper"', 'name="arm_worldbody_upper"'),
        ('name="lower"', 'name="arm_worldbody_upper_lower"'),
        ('name="elbow"', 'name="lower_elbow_twist_ang0"'),
        ('name="twist"', 'name="lower_elbow_twist_ang1"'),
        ('joint="elbow"', 'joint="lower_elbow_twist_ang0"'),
        ('joint1="twist"', 'joint1="lower_elbow_twist_ang1"'),
        ('name="rod"', 'name="arm/worldbody/upper/rod_1"'),
        ('<body pos="1 0 1">', '<body name="arm_worldbody_body_3" pos="1 0 1">'),
    )

    assert compare(model(), renamed) == []


def test_another_frame_of_the_same_inertia_is_not_a_difference():
    inertial = '<body name="lower" pos="0 0 -0.4"><inertial pos="0 0 0" mass="1" {}/>'
    lower = '<body name="lower" pos="0 0 -0.4">'
    straight = model((lower, inertial.format('diaginertia="1 2 2.5"')))
    turned = model((lower, inertial.format('diaginertia="2 1 2.5" euler="0 0 1.570796"')))

    assert compare(straight, turned) == []


def test_what_is_left_out_by_design_says_the_reason():
    shell = '<geom name="shell" type="sphere" size="0.3" contype="0" conaffinity="0" mass="0"/>'

    differences = compare(model(), model((shell, ""), ('timestep="0.002"', 'timestep="0.005"')))

    assert {difference.element for difference in differences} == {"geom 'shell'", "option"}
    assert all(difference.is_by_design for difference in differences)
    assert "option: timestep 0.002 → 0.005 (simulation.dt and simulation.substeps decide)" in worded(differences)


def test_equal_changes_are_one_line_and_the_worst_come_first():
    differences = [
        *(Difference(f"joint '{name}'", "damping", 0.5, 0.0) for name in "abcde"),
        *(Difference(f"joint '{name}'", "armature", 0.1 * i, 0.0) for i, name in enumerate("ab", 1)),
        Difference("tendon 'belt'", "exists", True, False, is_structural=True),
    ]

    assert worded(differences) == [
        "tendon 'belt': lost",
        "2 joints: armature 'a' 0.1 → 0, 'b' 0.2 → 0",
        "joints 'a', 'b', 'c' and 2 more: damping 0.5 → 0",
    ]
    assert worded(differences, limit=2) == ["tendon 'belt': lost", "and 2 more fields"]


def test_an_equality_of_one_body_is_void_by_design():
    own = '<equality><weld site1="hand" site2="wrist"/>'
    changes = [("<equality>", own), ('<site name="hand"', '<site name="wrist" pos="0 .1 0"/><site name="hand"')]

    (difference,) = compare(model(*changes), model(changes[1]))

    assert difference.is_by_design
    assert "holds the body to itself" in str(difference)
