"""Tests of the contract of every clamping, and of this one's law."""

import newton
import numpy as np
import pippin
from pippin import conformance


@conformance.parametrize(conformance.Conformance("clamping", "demo", config={"max_effort": 5.0}))
def test_it_keeps_the_contract(check):
    check()


def test_effort_bends_towards_the_limit():
    builder = newton.ModelBuilder(up_axis="Z")
    link = builder.add_link(mass=1.0, inertia=np.eye(3))
    builder.add_articulation([builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label="hinge")])
    clamping = [{"type": "demo", "max_effort": 5.0}]
    config = pippin.structure(
        {
            "simulation": {"device": "cpu"},
            "scene": {"worlds": 3},
            "solver": {"type": "featherstone"},
            "actuators": {"motor": {"type": "pd", "joints": ["hinge"], "clamping": clamping}},
        }
    )
    efforts = np.array([[0.1], [5.0], [200.0]], dtype=np.float32)
    with pippin.Simulation(config, prototype=builder) as simulation:
        motor = simulation.actuators["motor"]
        motor.feedforward.assign(efforts)
        simulation.step()

        np.testing.assert_allclose(motor.applied_effort.numpy(), 5.0 * np.tanh(efforts / 5.0), rtol=1e-5)
