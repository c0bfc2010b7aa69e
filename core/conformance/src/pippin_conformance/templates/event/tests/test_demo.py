"""Tests of this event."""

import numpy as np
import pytest


def test_each_world_spins_at_a_rate_of_its_own(simulate):
    task = {"events": {"spin": {"type": "demo", "rate": 4.0}}}
    with simulate(scene={"worlds": 20}, task=task) as simulation:
        rates = simulation.state.joint_qd.numpy().reshape(20, 6)[:, 5]

    assert len(np.unique(rates)) == 20
    assert np.abs(rates).max() == pytest.approx(4.0, abs=1.5)
    assert np.abs(rates).max() <= 4.0
