"""Falling boxes for the tests."""

import newton
import numpy as np
import pippin
import pytest


@pytest.fixture
def simulate():
    """Return a function that builds worlds with a box at a height of 2 m, and with the tables that it is given."""

    def build(folder=None, **tables):
        builder = newton.ModelBuilder(up_axis="Z")
        builder.add_body(label="box", mass=1.0, inertia=np.eye(3), xform=((0.0, 0.0, 2.0), (0.0, 0.0, 0.0, 1.0)))
        usual = {"simulation": {"dt": 0.01, "device": "cpu"}, "solver": {"type": "semi-implicit"}}
        return pippin.Simulation(pippin.structure(usual | tables), prototype=builder, folder=folder)

    return build
