"""Tests of the contract of every event, and of this one."""

import numpy as np
import pippin_conformance as conformance
import pytest


@conformance.parametrize(conformance.Conformance("event", "demo", config={"rate": 3.0, "body": "ball"}))
def test_it_keeps_the_contract(check):
    check()


def test_each_world_spins_at_a_rate_of_its_own(simulate):
    task = {"events": {"spin": {"type": "demo", "rate": 4.0}}}
    with simulate(scene={"worlds": 20}, task=task) as simulation:
        rates = simulation.state.joint_qd.numpy().reshape(20, 6)[:, 5]

    assert len(np.unique(rates)) == 20
    assert np.abs(rates).max() == pytest.approx(4.0, abs=1.5)
    assert np.abs(rates).max() <= 4.0
