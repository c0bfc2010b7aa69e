"""Object types: of every label, and of those that mean another thing in another world."""

import newton
import pytest
import warp as wp
from pippin.views import ObjectType
from pippin.views.structure import object_type


def add_link(builder, label):
    return builder.add_link(label=label, mass=1.0, inertia=wp.diag(wp.vec3(0.1)))


@pytest.fixture(scope="module")
def model():
    """World 0 holds an arm of three links whose last one is joined to its first, and a free ball; world 1 a link."""
    world = newton.ModelBuilder()
    base, upper, lower = (add_link(world, f"/arm/{name}") for name in ("base", "upper", "lower"))
    joints = [
        world.add_joint_revolute(-1, base, label="/arm/turn"),
        world.add_joint_revolute(base, upper, label="/arm/shoulder"),
        world.add_joint_revolute(upper, lower, label="/arm/elbow"),
    ]
    world.add_joint_revolute(lower, base, label="/arm/loop")
    world.add_articulation(joints, label="/arm")
    world.add_body(label="/ball", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    add_link(world, "/loose")
    other = newton.ModelBuilder()
    ball = add_link(other, "/ball")
    other.add_articulation([other.add_joint_revolute(-1, ball, label="/ball/hinge")], label="/pendulum")
    builder = newton.ModelBuilder()
    builder.add_world(world)
    builder.add_world(other)
    return builder.finalize(device="cpu", skip_all_validations=True)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("/arm/base", ObjectType.ARTICULATION_ROOT_LINK),
        ("/arm/upper", ObjectType.ARTICULATION_LINK),
        ("/arm/lower", ObjectType.ARTICULATION_LINK),
        ("/arm/elbow", ObjectType.ARTICULATION_JOINT),
        ("/arm", ObjectType.ARTICULATION),
        ("/ball", ObjectType.RIGID_BODY),
        ("/loose", ObjectType.RIGID_BODY),
        ("arm/upper", ObjectType.ARTICULATION_LINK),
        ("/arm/upper/none", ObjectType.INVALID),
        ("/arm/*", ObjectType.INVALID),
        ("/pendulum", ObjectType.ARTICULATION),
    ],
)
def test_a_label_is_of_one_type(model, label, expected):
    assert object_type(model, label) is expected


def test_a_loop_does_not_make_the_base_a_link_like_others(model):
    """The joint that closes the loop moves the base too, by Newton's arrays."""
    assert object_type(model, "/arm/base") is ObjectType.ARTICULATION_ROOT_LINK


def test_a_label_may_mean_another_thing_in_another_world(model):
    assert object_type(model, "/ball", world=0) is ObjectType.RIGID_BODY
    assert object_type(model, "/ball", world=1) is ObjectType.ARTICULATION_ROOT_LINK
    assert object_type(model, "/arm", world=1) is ObjectType.INVALID
