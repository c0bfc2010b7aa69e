"""The model of all worlds: what a prototype asks for is there, or refused."""

import newton
import pippin
import pytest
import warp as wp


@pytest.mark.parametrize("solver", ["xpbd", "mujoco-native"])
def test_reports_that_a_prototype_requests_of_the_state_are_refused(configure, solver):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_body(label="ball", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    with pytest.warns(newton.NewtonDeprecationWarning):
        builder.request_state_attributes("body_qdd")

    with pytest.raises(pippin.ConfigError, match=r'^prototype: .*; leave it out, set .*observables = \["body_qdd"'):
        pippin.Simulation(configure(solver), prototype=builder)
