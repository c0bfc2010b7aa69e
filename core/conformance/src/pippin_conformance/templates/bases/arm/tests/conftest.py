"""Hinges for the tests."""

import newton
import numpy as np
import pippin
import pytest


@pytest.fixture
def simulate():
    """Return a function that builds worlds with a hinge of 1 kg·m² at a speed, and with the tables that it is given."""

    def build(speed=0.0, **tables):
        builder = newton.ModelBuilder(up_axis="Z")
        link = builder.add_link(mass=1.0, inertia=np.eye(3))
        builder.add_articulation([builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label="hinge")])
        builder.joint_qd[-1] = speed
        usual = {"simulation": {"device": "cpu"}, "solver": {"type": "@solver@"}}
        return pippin.Simulation(pippin.structure(usual | tables), prototype=builder)

    return build
