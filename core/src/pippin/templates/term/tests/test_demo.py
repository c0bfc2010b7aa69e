"""Tests of the contract of every quantity and every reward, and of the numbers of these."""

import newton
import numpy as np
import pippin
import pytest
from pippin import conformance


@conformance.parametrize(conformance.Conformance("quantity", "demo"))
def test_the_quantity_keeps_the_contract(check):
    check()


@conformance.parametrize(conformance.Conformance("reward", "demo"))
def test_the_reward_keeps_the_contract(check):
    check()


def test_a_tilt_is_measured_and_its_reward_is_the_formula():
    builder = newton.ModelBuilder(up_axis="Z")
    turn = (np.sin(0.2), 0.0, 0.0, np.cos(0.2))  # by 0.4 rad about x
    builder.add_body(label="box", mass=1.0, inertia=np.eye(3), xform=((0.0, 0.0, 2.0), turn))
    upright = {"type": "demo", "of": "demo", "width": 0.5, "weight": 1.0}
    config = pippin.structure(
        {
            "simulation": {"dt": 0.01, "device": "cpu"},
            "solver": {"type": "semi-implicit"},
            "task": {"observations": {"policy": {"tilt": {"of": "demo"}}}, "rewards": {"upright": upright}},
        }
    )
    with pippin.Simulation(config, prototype=builder) as simulation:
        simulation.step()
        task = simulation.task

        assert task.observations["policy"].values.numpy() == pytest.approx(0.4, rel=1e-5)
        assert task.episodes.reward_terms.numpy() == pytest.approx(1.0 / (1.0 + (0.4 / 0.5) ** 2), rel=1e-5)
