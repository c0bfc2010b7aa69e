"""Tests of the contract of every viewer, and of this one's lines."""

import newton
import numpy as np
import pippin
from pippin import conformance


@conformance.parametrize(conformance.Conformance("viewer", "demo"))
def test_it_keeps_the_contract(check):
    check()


def test_it_prints_the_heights_of_the_chosen_worlds(capsys):
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_body(label="kite", mass=1.0, inertia=np.eye(3), xform=((0.0, 0.0, 2.0), (0.0, 0.0, 0.0, 1.0)))
    config = pippin.structure(
        {
            "simulation": {"dt": 0.01, "device": "cpu"},
            "scene": {"worlds": 3},
            "solver": {"type": "semi-implicit"},
            "viewers": {"text": {"type": "demo", "worlds": [0, 2]}},
        }
    )
    with pippin.Simulation(config, prototype=builder):
        lines = capsys.readouterr().err.splitlines()

    assert "t = 0.00 s: 2.00, 2.00 m" in lines
