"""Forces on bodies: where they act, and along which axes."""

import newton
import numpy as np
import pippin
import warp as wp


def test_a_force_acts_at_the_centre_of_mass_along_the_axes_of_the_world(solver, configure):
    """A force along x on a body that is turned by 90° about z, and whose centre of mass lies beside its origin.

    Its centre of mass gains F dt / m along the world's x, and it does not turn. Float32 of velocities that are
    differences of positions allows 1e-4.
    """
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    turned = wp.transform(wp.vec3(0.0), wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), np.pi / 2))
    body = builder.add_link(mass=2.0, inertia=wp.diag(wp.vec3(0.1)), xform=turned)
    builder.body_com[body] = wp.vec3(0.2, 0.0, 0.0)
    builder.add_articulation([builder.add_joint_free(body)])
    config = configure(solver, dt=0.01, substeps=5, scene={"gravity": [0.0, 0.0, 0.0]})

    with pippin.Simulation(config, prototype=builder) as simulation:
        simulation.state.body_f.assign([[6.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
        simulation.step()
        velocity = simulation.state.body_qd.numpy()[0]

    np.testing.assert_allclose(velocity, [6.0 * 0.01 / 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], atol=1e-4)
