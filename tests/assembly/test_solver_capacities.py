"""Contacts of the pipeline and of MuJoCo: capacities of each, and terrain without a margin."""

import newton
import numpy as np
import pippin
import pytest


@pytest.mark.parametrize(("nconmax", "rigid_contact_max"), [(200, 8), (8, 200)])
def test_pipeline_and_mujoco_may_have_room_for_different_numbers_of_contacts(
    nconmax, rigid_contact_max, ball, configure
):
    """A sphere on the ground has one contact, which carries its weight whoever has more room."""
    config = configure(
        {"type": "mujoco", "use_mujoco_contacts": False, "nconmax": nconmax},
        scene={"ground": True},
        collision={"rigid_contact_max": rigid_contact_max},
        sensors={"touch": {"type": "contact", "bodies": ["ball"]}},
    )
    with pippin.Simulation(config, prototype=ball(height=0.0995)) as simulation:
        simulation.step(300)
        simulation.raise_errors()

        force = simulation.sensors["touch"].outputs["net_force"].data.numpy()[0, 0]

    np.testing.assert_allclose(force, [0.0, 0.0, 9.81], rtol=1e-3, atol=1e-3)


def test_capacities_are_those_that_were_asked_for(ball, configure):
    """The pipeline's is for all worlds together, MuJoCo's for each."""
    scene = {"worlds": 3, "ground": True}
    piped = configure("xpbd", scene=scene, collision={"rigid_contact_max": 21})
    own = configure({"type": "mujoco", "nconmax": 7, "njmax": 29}, scene=scene)
    with pippin.Simulation(piped, prototype=ball()) as simulation:
        assert simulation.contacts.rigid_contact_max == 21
    with pippin.Simulation(own, prototype=ball()) as simulation:
        assert simulation.solver.mjw_data.naconmax == 3 * 7
        assert simulation.solver.mjw_data.njmax == 29


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["xpbd", {"type": "mujoco", "use_mujoco_contacts": False}], ids=str)
def test_a_ball_rests_on_terrain_without_a_margin(solver, ball, configure):
    """Triangles in a plane; the ball is in the middle of none. MuJoCo's contacts yield by half a millimetre."""
    prototype = ball(height=0.12)
    prototype.shape_margin[0] = prototype.shape_gap[0] = 0.0
    sides = np.linspace(-0.47, 0.53, 5)
    vertices = np.array([(x, y, 0.0) for x in sides for y in sides], dtype=np.float32)
    corners = [5 * row + column for row in range(4) for column in range(4)]
    triangles = [index + k for index in corners for k in (0, 5, 1, 5, 6, 1)]
    sharp = newton.ModelBuilder.ShapeConfig(margin=0.0, gap=0.0)
    prototype.add_shape_mesh(-1, mesh=newton.Mesh(vertices, triangles, compute_inertia=False), cfg=sharp)

    with pippin.Simulation(configure(solver), prototype=prototype) as simulation:
        simulation.step(300)
        simulation.raise_errors()
        position = simulation.state.body_q.numpy()[0, :3]

    np.testing.assert_allclose(position, [0.0, 0.0, 0.1], atol=5e-4)
