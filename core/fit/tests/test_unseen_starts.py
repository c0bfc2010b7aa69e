"""Starts of windows that validate: they are found also where the motion bends with them."""

from types import SimpleNamespace

import numpy as np
import pytest
from pippin_fit.candidates import JUDGED
from pippin_fit.minimisation import unseen_starts

SAMPLES, WINDOWS = 40, 3
TRUTH = np.array([[6.0, -4.0], [0.5, 0.2], [-8.0, 3.0]])
"""Starts that explain the windows, in units of their noise, shape [windows, states]."""


class Bent:
    """Windows whose residuals bend with their start: those of x + b x³ / 30 with fading weights of two states."""

    width = 1

    def __init__(self, bend):
        times = np.linspace(0.0, 1.0, SAMPLES)
        self.weights = np.stack([np.exp(-3.0 * times), times * np.exp(-2.0 * times)]) * 3.0
        self.bend, self.count = bend, 0
        self.parts = (None, SimpleNamespace(windows=(0,) * WINDOWS, window_of=np.repeat(np.arange(WINDOWS), SAMPLES)))
        self.measured = self.motion(TRUTH)

    def motion(self, starts):
        return (starts + self.bend * starts**3 / 30.0) @ self.weights

    def state_scales(self):
        return np.array([2.0, 0.5]), np.array([3.0, 3.0])

    def roll_out(self, values, shifts, unseen):
        self.unseen, self.count = unseen / self.state_scales()[0], self.count + 1

    def residuals(self, part):
        return np.stack([(self.motion(own) - self.measured).ravel() for own in self.unseen])


@pytest.mark.parametrize("bend", [0.0, 1.0])
def test_the_starts_are_those_that_explain_the_windows(bend):
    """Residuals of 0.3 σ at most are left, of 10 to 60; the starts themselves are pulled to what was measured."""
    windows = Bent(bend)

    found = unseen_starts(windows, np.zeros((JUDGED, 1)), None)

    windows.roll_out(None, None, found)
    assert np.sqrt((windows.residuals(None) ** 2).mean()) < 0.3
    np.testing.assert_allclose(found[0] / [2.0, 0.5], TRUTH, atol=1.0)
    np.testing.assert_array_equal(found[0], found[1])


def test_linear_windows_take_one_round():
    """A rollout as measured, one for each state, and one with the starts that are found."""
    windows = Bent(0.0)

    unseen_starts(windows, np.zeros((JUDGED, 1)), None)

    assert windows.count == 1 + 2 + 1
