"""Joints that are neither hinge nor slider: a DOF of a ball joint is a component of its rotation vector."""

import newton
import numpy as np
import pytest
import warp as wp
from pippin.views import DofType


@pytest.fixture(scope="module")
def robots(build):
    """Three worlds with a hinge, a ball joint, a D6 joint of a slider and two turns, and a fixed joint."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    below = wp.transform(wp.vec3(0.0, 0.0, -0.3), wp.quat_identity())

    def link(label):
        return builder.add_link(label=label, mass=1.0, inertia=wp.diag(wp.vec3(0.1, 0.1, 0.1)))

    upper, middle, lower, tip = map(link, ("upper", "middle", "lower", "tip"))
    axis = newton.ModelBuilder.JointDofConfig
    joints = [
        builder.add_joint_revolute(-1, upper, axis=(0.0, 1.0, 0.0), label="hinge"),
        builder.add_joint_ball(upper, middle, parent_xform=below, label="ball"),
        builder.add_joint_d6(
            middle,
            lower,
            linear_axes=[axis(axis=(0.0, 0.0, 1.0))],
            angular_axes=[axis(axis=(1.0, 0.0, 0.0)), axis(axis=(0.0, 1.0, 0.0))],
            parent_xform=below,
            label="d6",
        ),
        builder.add_joint_fixed(lower, tip, parent_xform=below, label="weld"),
    ]
    builder.add_articulation(joints, label="arm")
    with build("xpbd", builder, 3) as simulation:
        yield simulation


@pytest.fixture
def view(robots):
    robots.reset()
    return robots.view.articulations("arm")


def test_every_dof_has_its_column(view):
    assert view.dof_names == ("hinge", "ball:0", "ball:1", "ball:2", "d6:0", "d6:1", "d6:2")
    assert (view.max_dofs, view.max_coords, view.max_links) == (7, 8, 4)
    assert view.dof_types.tolist() == [[DofType.TRANSLATION if column == 4 else 0 for column in range(7)]] * 3


@pytest.mark.parametrize("options", [{}, {"indices": [2, 0]}, {"mask": [True, False, True]}, {"compact": True}])
def test_rotation_vectors_come_back(view, options):
    generator = np.random.default_rng(5)
    values = generator.uniform(-1.0, 1.0, (3, 7)).astype(np.float32)
    rows = [0, 1, 2] if not options else [0, 2]
    if "compact" in options:
        view.set_dof_positions(np.ascontiguousarray(values[[2, 0]]), [2, 0], compact=True)
    else:
        view.set_dof_positions(values, **options)

    np.testing.assert_allclose(view.get_dof_positions().numpy()[rows], values[rows], atol=2e-6)
    if options:
        np.testing.assert_allclose(view.get_dof_positions().numpy()[1], 0.0, atol=1e-6)


def test_the_links_turn_by_the_rotation_vector(view):
    """By Rodrigues' formula: a turn of the ball joint by 0.9 rad about (0.6, 0, 0.8) is the quaternion of the link."""
    values = np.zeros((3, 7), dtype=np.float32)
    values[1, 1:4] = 0.9 * np.array([0.6, 0.0, 0.8])
    view.set_dof_positions(values)

    turn = view.get_link_transforms().numpy()[1, 1, 3:]
    np.testing.assert_allclose(turn, [0.6 * np.sin(0.45), 0.0, 0.8 * np.sin(0.45), np.cos(0.45)], atol=1e-6)
    np.testing.assert_allclose(view.get_joint_coords().numpy()[1, 1:5], turn, atol=1e-6)


def test_coordinates_of_a_ball_joint_are_a_quaternion(view):
    coords = view.get_joint_coords().numpy().copy()
    assert (coords[:, 1:5] == [0.0, 0.0, 0.0, 1.0]).all()

    coords[2, 1:5] = [0.0, 0.0, -0.6, -0.8]  # the same turn as (0, 0, 0.6, 0.8)
    view.set_joint_coords(coords, indices=[2])
    expected = [0.0, 0.0, 0.0, 2.0 * np.arcsin(0.6), 0.0, 0.0, 0.0]
    np.testing.assert_allclose(view.get_dof_positions().numpy()[2], expected, atol=1e-6)


def test_targets_of_a_ball_joint_are_rotation_vectors_too(robots, view):
    values = np.tile(np.linspace(0.1, 0.7, 7, dtype=np.float32), (3, 1))
    view.set_dof_position_targets(values)

    np.testing.assert_allclose(view.get_dof_position_targets().numpy(), values, atol=1e-6)
    quaternions = robots.control.joint_target_q.numpy().reshape(3, 8)[:, 1:5]
    np.testing.assert_allclose(np.linalg.norm(quaternions, axis=1), 1.0, atol=1e-6)
