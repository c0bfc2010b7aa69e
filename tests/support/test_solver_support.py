"""The ranges of a built solver: a joint keeps what it has, and gets nothing that it has not."""

import newton
import numpy as np
import pytest
import warp as wp
from pippin.support.solver_support import SolverSupport


@pytest.fixture(scope="module")
def model():
    """A ball joint without a drive, a bare hinge, and a slider with a drive, limits and armature."""
    builder = newton.ModelBuilder()
    links = [builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1))) for _ in range(3)]
    joints = [builder.add_joint_ball(-1, links[0]), builder.add_joint_revolute(links[0], links[1], armature=0.0)]
    drive = {"target_ke": 5.0, "target_kd": 1.0, "limit_lower": -1.0, "limit_upper": 1.0, "armature": 0.5}
    joints.append(builder.add_joint_prismatic(links[1], links[2], **drive))
    builder.add_articulation(joints)
    return builder.finalize(device="cpu")


def support(model, features=None, fixed=(), kept=(), accepted=()):
    return SolverSupport(
        "some", features, accepted, fixed, kept, lambda feature: f"'some' lacks {feature}", model, dict
    )


def test_a_missing_feature_is_explained_and_a_declared_one_is_not(model):
    found = support(model, {"armature": "live"})

    assert found.fault("armature") is None
    assert found.fault("") is None
    assert found.fault("joint_friction") == "solver 'some' lacks joint_friction"


def test_an_accepted_feature_is_no_fault_and_is_told_once(model):
    found = support(model, {"armature": "live"}, accepted=["joint_friction"])

    with pytest.warns(UserWarning, match="has no joint_friction, as .*accept_unsupported permits: .* has no effect"):
        assert found.fault("joint_friction") is None
    assert found.fault("joint_friction") is None


def test_a_solver_that_declares_no_features_has_all(model):
    assert support(model).fault("armature") is None


def test_a_solver_that_fixes_nothing_takes_every_value(model):
    assert support(model).range_of("joint_target_ke") is None


def test_only_joints_with_a_drive_take_gains(model):
    gains = support(model, fixed={"joint_drives"}).range_of("joint_target_ke")

    np.testing.assert_array_equal(gains.low > gains.high, [True, True, True, True, False])
    np.testing.assert_array_equal(gains.is_limited, [True, True, True, True, False])


def test_targets_are_in_coordinates(model):
    targets = support(model, fixed={"joint_drives"}).range_of("joint_target_q")

    np.testing.assert_array_equal(targets.is_limited, [True, True, True, True, True, False])


def test_what_is_kept_cannot_become_zero(model):
    armature = support(model, fixed={"armature"}, kept={"armature"}).range_of("joint_armature")

    assert 0.0 < armature.low[-1] < 1e-30
    assert armature.high[-1] == np.inf


def test_a_limit_that_is_kept_stays_finite(model):
    lower = support(model, kept={"joint_limits"}).range_of("joint_limit_lower")

    assert -newton.MAXVAL < lower.low[-1] < -0.99 * newton.MAXVAL
    assert not lower.is_limited[-2]
