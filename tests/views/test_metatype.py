"""The structure of articulations: trees as they are, degrees of freedom as they move."""

import newton
import pytest
import warp as wp
from newton import JointType
from pippin.axes import name_axes
from pippin.views import DofType
from pippin.views.structure import of_articulation

Axis = newton.ModelBuilder.JointDofConfig


def add_links(builder, *names):
    return [builder.add_link(label=f"robot/{name}", mass=1.0, inertia=wp.diag(wp.vec3(0.1))) for name in names]


@pytest.fixture(scope="module")
def model():
    """A hinged base with a ball, a slide and a linear D6 joint on it, a fixed tip, and a joint that closes a loop."""
    builder = newton.ModelBuilder()
    base, arm, cart, table, tip = add_links(builder, "base", "arm", "cart", "table", "tip")
    joints = [
        builder.add_joint_revolute(-1, base, label="robot/turn"),
        builder.add_joint_ball(base, arm, label="robot/shoulder"),
        builder.add_joint_prismatic(base, cart, label="robot/slide"),
        builder.add_joint_d6(
            cart, table, linear_axes=[Axis(axis=(1, 0, 0))], angular_axes=[Axis(axis=(0, 0, 1))], label="robot/xz"
        ),
        builder.add_joint_fixed(arm, tip, label="robot/weld"),
    ]
    builder.add_joint_revolute(tip, table, label="robot/loop")
    builder.add_articulation(joints, label="robot")
    builder.add_body(label="box", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    single = add_links(builder, "single")[0]
    axis = builder.add_joint_d6(-1, single, angular_axes=[Axis(axis=(1, 0, 0))], label="one")
    builder.add_articulation([axis], label="single")
    return builder.finalize(device="cpu")


@pytest.fixture(scope="module")
def robot(model):
    return of_articulation(model, 0)


def test_links_are_what_the_joints_of_the_tree_move(robot):
    assert robot.link_names == ("base", "arm", "cart", "table", "tip")
    assert robot.link_indices["cart"] == robot.link_indices["robot/cart"] == 2


def test_parents_are_those_of_the_tree_and_not_the_links_before(robot):
    assert robot.link_parents == (-1, 0, 0, 2, 1)


def test_a_hinge_at_the_root_keeps_its_degree_of_freedom(robot):
    assert robot.is_fixed_base
    assert robot.fixed_base
    assert robot.dof_names[0] == "turn"


def test_joints_have_no_fixed_ones_and_none_that_closes_a_loop(robot):
    assert robot.joint_names == ("turn", "shoulder", "slide", "xz")
    assert robot.joint_types == (JointType.REVOLUTE, JointType.BALL, JointType.PRISMATIC, JointType.D6)
    assert robot.joint_indices["robot/slide"] == 2


def test_a_ball_has_three_degrees_of_freedom_and_four_coordinates(robot):
    assert robot.joint_dof_offsets == (0, 1, 4, 5)
    assert robot.joint_dof_counts == (1, 3, 1, 2)
    assert robot.joint_coord_offsets == (0, 1, 5, 6)
    assert robot.joint_coord_counts == (1, 4, 1, 2)
    assert (robot.link_count, robot.joint_count, robot.dof_count, robot.coord_count) == (5, 4, 7, 8)


def test_degrees_of_freedom_are_named_and_typed_one_by_one(robot):
    names = ("turn", "shoulder:0", "shoulder:1", "shoulder:2", "slide", "xz:0", "xz:1")
    turns = DofType.ROTATION
    assert robot.dof_names == names
    assert robot.dof_types == (turns, turns, turns, turns, DofType.TRANSLATION, DofType.TRANSLATION, turns)
    assert robot.dof_indices["xz:1"] == 6


def test_a_free_body_has_no_joint_at_all(model):
    box = of_articulation(model, 1)

    assert box.link_names == ("box",)
    assert (box.joint_count, box.dof_count) == (0, 0)
    assert not box.is_fixed_base


def test_a_d6_joint_of_one_axis_has_its_name(model):
    assert of_articulation(model, 2).dof_names == ("one",)


def test_named_axes_give_their_names_to_degrees_of_freedom():
    builder = newton.ModelBuilder()
    [table] = add_links(builder, "table")
    joint = builder.add_joint_d6(-1, table, angular_axes=[Axis(axis=(1, 0, 0)), Axis(axis=(0, 1, 0))], label="robot/xy")
    builder.add_articulation([joint], label="robot")
    name_axes(builder, joint, ["x", ""])

    named = of_articulation(builder.finalize(device="cpu"), 0)

    assert named.dof_names == ("x", "xy:1")
    assert named.dof_indices["xy:1"] == 1


def test_copies_of_a_robot_have_equal_metatypes(model, robot):
    assert robot == of_articulation(model, 0)
    assert robot != of_articulation(model, 1)
