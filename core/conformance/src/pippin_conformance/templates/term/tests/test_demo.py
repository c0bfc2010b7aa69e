"""Tests of the contract of every reward, and of the numbers of this quantity and this reward."""

import pippin_conformance as conformance
import pytest


@conformance.parametrize(conformance.Conformance("reward", "demo"))
def test_the_reward_keeps_the_contract(check):
    check()


def test_a_tilt_is_measured_and_its_reward_is_the_formula(simulate):
    task = {
        "events": {"start": {"type": "root", "roll": [0.4, 0.4]}},
        "observations": {"policy": {"tilt": {"of": "demo"}}},
        "rewards": {"upright": {"type": "demo", "of": "demo", "width": 0.5, "weight": 1.0}},
    }
    with simulate(task=task) as simulation:
        simulation.step()
        task = simulation.task

        assert task.observations["policy"].values.numpy() == pytest.approx(0.4, rel=1e-5)
        assert task.episodes.reward_terms.numpy() == pytest.approx(1.0 / (1.0 + (0.4 / 0.5) ** 2), rel=1e-5)
