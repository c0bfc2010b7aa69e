"""The acceleration of bodies: by one definition under every solver, exact also if the solver's own is not."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

DT, DAMPING = 0.005, 20.0


@pytest.mark.parametrize("solver", ["mujoco", "mujoco-native"])
def test_the_acceleration_of_an_implicitly_damped_link_is_the_change_of_its_velocity(solver):
    """MuJoCo's own acceleration lacks the implicit part of damping: it would be 11 m/s² off."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)), com=wp.vec3(0.0, 0.0, -0.5))
    hinge = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), damping=DAMPING)
    builder.joint_qd[-1] = 5.0
    builder.add_articulation([hinge])
    tables = {"simulation": {"device": "cpu", "dt": DT, "observables": ["body_qdd"]}, "solver": {"type": solver}}
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        before = simulation.state.body_qd.numpy().copy()

        simulation.step()

        expected = (simulation.state.body_qd.numpy() - before) / DT
        np.testing.assert_allclose(simulation.observables.body_qdd.numpy(), expected, rtol=1e-5, atol=1e-4)
        assert abs(expected[0, 4]) > 100.0  # the damper brakes
