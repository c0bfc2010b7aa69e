"""Joints, shapes and pairs of the first world, as engines read them."""

import newton
import numpy as np
import pytest
import warp as wp
from pippin_engines import FirstWorld

TURN = wp.quat_from_axis_angle(wp.vec3(0.0, 1.0, 0.0), 0.5)


@pytest.fixture
def world():
    """Two worlds with a base that is free, an arm at a hinge, and a ground of no world."""
    robot, cfg = newton.ModelBuilder(up_axis="Z"), newton.ModelBuilder.ShapeConfig(density=0.0, mu=0.3, margin=0.01)
    inertia = wp.diag(wp.vec3(0.01))
    base, arm = (robot.add_link(mass=mass, inertia=inertia, label=f"{mass:g} kg") for mass in (1.0, 2.0))
    outer, inner = wp.transform((0.1, 0.2, 0.3), TURN), wp.transform((0.0, 0.0, 0.4), TURN)
    hinge = {"parent_xform": outer, "child_xform": inner, "axis": (0.0, 1.0, 0.0), "armature": 0.05, "label": "hinge"}
    robot.add_articulation([robot.add_joint_free(base), robot.add_joint_revolute(base, arm, **hinge)])
    robot.add_shape_box(base, hx=0.1, hy=0.2, hz=0.3, cfg=cfg)
    mesh = newton.Mesh.create_box(0.1, 0.1, 0.1)
    robot.add_shape_convex_hull(arm, mesh=mesh, scale=(1.0, 2.0, 3.0), cfg=cfg)
    scene = newton.ModelBuilder(up_axis="Z")
    scene.add_ground_plane(cfg=cfg)
    scene.replicate(robot, 2)
    return FirstWorld(scene.finalize(device="cpu"))


@pytest.mark.alone
def test_joints_are_those_of_the_first_world_with_their_columns(world):
    free, hinge = world.joints

    assert (free.kind, free.parent, free.child, free.qd) == ("FREE", -1, 0, [0, 1, 2, 3, 4, 5])
    assert (hinge.kind, hinge.parent, hinge.child, hinge.q, hinge.qd) == ("REVOLUTE", 0, 1, [7], [6])
    assert hinge.axis.tolist() == [0.0, 1.0, 0.0]


def test_a_place_is_that_of_the_child_where_coordinates_are_zero(world):
    """The frames of the joint are one: both are turned alike, and the child hangs 0.4 m off."""
    hinge = world.joints[1]

    assert hinge.place == pytest.approx([0.1, 0.2, 0.3 - 0.4, 0.0, 0.0, 0.0, 1.0], abs=1e-6)


def test_shapes_have_scaled_corners_and_a_surface(world):
    ground, box, hull = world.shapes

    assert [(each.kind, each.body) for each in (ground, box, hull)] == [("PLANE", -1), ("BOX", 0), ("CONVEX_MESH", 1)]
    assert box.size == pytest.approx([0.1, 0.2, 0.3])
    assert np.abs(hull.corners).max(axis=0) == pytest.approx([0.1, 0.2, 0.3])
    assert box.mu == pytest.approx(0.3)
    assert box.margin == pytest.approx(0.01)


def test_the_pairs_are_those_that_may_touch(world):
    """Links on both sides of a joint may not, and no shape touches one of another world."""
    ground, box, hull = world.shapes

    assert {frozenset((first.row, second.row)) for first, second in world.touching} == {
        frozenset((ground.row, box.row)),
        frozenset((ground.row, hull.row)),
    }


def test_numbers_have_a_row_for_each_world(world):
    masses, inertias, armatures = world.numbers("body_mass", "body_inertia", "joint_armature")

    assert masses.tolist() == [[1.0, 2.0]] * 2
    assert inertias.shape == (2, 2, 3, 3)
    assert armatures[:, 6] == pytest.approx([0.05, 0.05])


def test_what_an_engine_lacks_is_named_with_a_cure(world):
    (fault,) = world.faults("some", ("PLANE", "BOX"))

    assert fault.startswith("type: 'some' has no shapes of the kind convex_mesh, as ")
    assert "; set convex_hulls in its asset, or let it be another shape" in fault


def test_a_mesh_of_more_corners_than_an_engine_has_is_named(world):
    (fault,) = world.faults("some", ("PLANE", "BOX", "CONVEX_MESH"), corners=7)

    assert "has more than 7 points, which 'some' drops; reduce it" in fault
