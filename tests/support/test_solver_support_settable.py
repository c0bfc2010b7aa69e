"""Settable joints have what the solver cannot add later, and move as before until something is set."""

import newton
import numpy as np
import pytest
import warp as wp
from pippin.support.solver_support import FAR, LARGE, SMALL, make_settable

ALL = ("joint_drives", "joint_limits", "effort_limits", "armature", "joint_friction")
NONE = int(newton.JointTargetMode.NONE)


@pytest.fixture
def builder():
    """A free root, and on it a hinge and a slider, which has a drive and limits."""
    builder = newton.ModelBuilder()
    links = [builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1))) for _ in range(3)]
    joints = [builder.add_joint_free(links[0]), builder.add_joint_revolute(links[0], links[1], armature=0.0)]
    drive = {"target_ke": 5.0, "limit_lower": -1.0, "limit_upper": 1.0, "effort_limit": 3.0, "armature": 0.5}
    joints.append(builder.add_joint_prismatic(links[0], links[2], friction=0.25, **drive))
    builder.add_articulation(joints)
    return builder


def test_a_bare_joint_gets_every_feature(builder):
    make_settable(builder, ALL, ())

    assert builder.joint_target_mode[6] == int(newton.JointTargetMode.POSITION_VELOCITY)
    assert (builder.joint_target_ke[6], builder.joint_target_kd[6]) == (0.0, 0.0)
    assert (builder.joint_limit_lower[6], builder.joint_limit_upper[6]) == (-FAR, FAR)
    assert (builder.joint_effort_limit[6], builder.joint_armature[6], builder.joint_friction[6]) == (
        LARGE,
        SMALL,
        SMALL,
    )


def test_what_a_joint_has_stays(builder):
    make_settable(builder, ALL, ())

    assert builder.joint_target_ke[7] == 5.0
    assert (builder.joint_limit_lower[7], builder.joint_limit_upper[7]) == (-1.0, 1.0)
    assert (builder.joint_effort_limit[7], builder.joint_armature[7], builder.joint_friction[7]) == (3.0, 0.5, 0.25)


def test_a_drive_that_cannot_be_taken_away_has_a_gain(builder):
    make_settable(builder, ["joint_drives"], ["joint_drives"])

    assert builder.joint_target_kd[6] == SMALL


def test_nothing_changes_for_a_solver_that_can_add_everything(builder):
    before = [list(getattr(builder, name)) for name in ("joint_target_mode", "joint_limit_lower", "joint_armature")]

    make_settable(builder, (), ())

    assert before == [
        list(getattr(builder, name)) for name in ("joint_target_mode", "joint_limit_lower", "joint_armature")
    ]


def test_the_six_degrees_of_a_free_root_are_left_alone(builder):
    make_settable(builder, ALL, ())

    np.testing.assert_array_equal(builder.joint_target_mode[:6], NONE)
    np.testing.assert_array_equal(builder.joint_friction[:6], 0.0)
