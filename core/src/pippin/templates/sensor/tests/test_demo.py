"""Tests of the contract of every sensor, and of this one's readings."""

import newton
import numpy as np
import pippin
from pippin import conformance


@conformance.parametrize(conformance.Conformance("sensor", "demo", config={"body": ".*"}))
def test_it_keeps_the_contract(check):
    check()


def test_it_reads_the_height_of_its_site():
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_body(label="kite", mass=1.0, inertia=np.eye(3), xform=((0.0, 0.0, 2.0), (0.0, 0.0, 0.0, 1.0)))
    config = pippin.structure(
        {
            "simulation": {"dt": 0.01, "device": "cpu"},
            "solver": {"type": "semi-implicit"},
            "sensors": {"meter": {"type": "demo", "body": "kite", "position": [0.0, 0.0, 0.5]}},
        }
    )
    with pippin.Simulation(config, prototype=builder) as simulation:
        meter = simulation.sensors["meter"]
        np.testing.assert_allclose(meter["height"].numpy(), 2.5)
        simulation.step(10)

        height = simulation.state.body_q.numpy()[0, 2]
        np.testing.assert_allclose(meter["height"].numpy(), height + 0.5, rtol=1e-6)
