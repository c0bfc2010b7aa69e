"""The build converts the model once, unless worlds differ: a second conversion compiles meshes and kernels anew."""

import newton
import pytest
import warp as wp
from pippin_solver_mujoco_native.parameters import is_uniform


def test_worlds_without_a_joint_that_moves_can_share_a_model():
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    base = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)), label="base")
    builder.add_articulation([builder.add_joint_fixed(-1, base)])

    assert is_uniform(converted(builder, builder))


def arm(height):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    base = builder.add_link(label="base")
    rod = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)), label="rod")
    builder.add_shape_sphere(base, radius=0.1)
    root = builder.add_joint_fixed(-1, base, parent_xform=wp.transform((0.0, 0.0, height), wp.quat_identity()))
    builder.add_articulation([root, builder.add_joint_revolute(base, rod, axis=newton.Axis.Y)])
    return builder


@pytest.mark.parametrize(("heights", "expected"), [([0.3, 0.3], True), ([0.3, 0.5], False)])
def test_a_base_at_rest_is_no_reason_for_a_second_conversion(heights, expected):
    solver = converted(*(arm(height) for height in heights))

    assert solver.mj_model.nmocap == 1
    assert is_uniform(solver) == expected


def converted(*prototypes):
    worlds = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(worlds)
    for prototype in prototypes:
        worlds.add_world(prototype)
    return newton.solvers.SolverMuJoCo(worlds.finalize(device="cpu"), use_mujoco_cpu=True, separate_worlds=True)
