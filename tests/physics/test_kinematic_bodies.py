"""A kinematic body, whose velocity a user sets: its surface moves, and carries what lies on it; the body stays."""

from __future__ import annotations

import newton
import numpy as np
import pippin
import pytest
import warp as wp

pytestmark = pytest.mark.simulation(worlds=2, dt=0.002)

SPEED, SOLVERS = 0.5, ("featherstone", "semi-implicit", "xpbd", "kamino", "mujoco")


def belt():
    """Return a box on a kinematic block."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    for label, height, half in (("belt", 0.4, (1.0, 0.2, 0.1)), ("box", 0.549, (0.1, 0.1, 0.05))):
        place = wp.transform(wp.vec3(0.0, 0.0, height), wp.quat_identity())
        inertia = wp.diag(wp.vec3(0.004, 0.004, 0.006))
        body = builder.add_link(label=label, mass=1.0, inertia=inertia, xform=place, is_kinematic=label == "belt")
        builder.add_articulation([builder.add_joint_free(body)], label=label)
        shape = newton.ModelBuilder.ShapeConfig(density=0.0, mu=0.8)
        builder.add_shape_box(body, hx=half[0], hy=half[1], hz=half[2], cfg=shape)
    return builder


def rows(values, worlds=2):
    return np.tile(np.array(values, dtype=np.float32), (worlds, 1))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_velocity_carries_what_lies_on_the_body_in_the_asked_world_alone(simulate, solver):
    options = {"substeps": 4} if solver == "semi-implicit" else {}
    with simulate(belt, solver=solver, **options) as simulation:
        block, box = (simulation.view.rigid_bodies(name) for name in ("belt", "box"))
        block.set_velocities(rows([SPEED, 0.0, 0.0, 0.0, 0.0, 0.0]), indices=[1])
        simulation.step(80)
        speeds = box.get_velocities().numpy()[:, 0]
        own, place = block.get_velocities().numpy()[:, 0], block.get_transforms().numpy()[:, 0]

    np.testing.assert_allclose(own, [0.0, SPEED], atol=1e-6)
    np.testing.assert_allclose(place, 0.0, atol=1e-4)
    np.testing.assert_allclose(speeds, [0.0, SPEED], atol=0.03)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_pose_is_kept_and_a_force_moves_nothing(simulate, solver):
    options = {"substeps": 4} if solver == "semi-implicit" else {}
    with simulate(belt, solver=solver, **options) as simulation:
        block = simulation.view.rigid_bodies("belt")
        block.set_transforms(rows([0.0, 3.0, 2.0, 0.0, 0.0, 0.0, 1.0]), indices=[1])
        for _ in range(10):
            block.apply_forces(rows([50.0, 0.0, 0.0]))
            simulation.step()
        places = block.get_transforms().numpy()[:, :3]

    np.testing.assert_allclose(places, [[0.0, 0.0, 0.4], [0.0, 3.0, 2.0]], atol=1e-4)


@pytest.mark.parametrize("solver", ["vbd", "steel", "mujoco-native"])
def test_a_solver_without_kinematic_bodies_refuses_them(simulate, solver):
    with pytest.raises(pippin.ConfigError, match=f"{solver}.*kinematic_bodies.*belt"):
        simulate(belt, solver=solver)
