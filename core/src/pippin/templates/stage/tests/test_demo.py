"""Tests of the contract of every stage, and of this one's readings."""

import newton
import numpy as np
import pippin
from pippin import conformance


@conformance.parametrize(conformance.Conformance("stage", "demo", config={"width": 0.05}))
def test_it_keeps_the_contract(check):
    check()


def test_small_readings_are_zero_and_large_ones_stay():
    builder = newton.ModelBuilder(up_axis="Z")
    for speed in (0.1, -0.3, 0.5):
        link = builder.add_link(mass=1.0, inertia=np.eye(3))
        builder.add_articulation([builder.add_joint_revolute(-1, link, axis=(0.0, 0.0, 1.0), label=f"hinge_{speed}")])
        builder.joint_qd[-1] = speed
    stages = [{"type": "demo", "output": "velocity", "width": 0.3}]
    config = pippin.structure(
        {
            "simulation": {"device": "cpu"},
            "solver": {"type": "semi-implicit"},
            "sensors": {"encoder": {"type": "joint-state", "joints": [".*"], "stages": stages}},
        }
    )
    with pippin.Simulation(config, prototype=builder) as simulation:
        velocity = simulation.sensors["encoder"].outputs["velocity"]

        np.testing.assert_allclose(velocity.clean.numpy(), [[0.1, -0.3, 0.5]], rtol=1e-6)
        np.testing.assert_array_equal(velocity.numpy(), np.float32([[0.0, 0.0, 0.5]]))
