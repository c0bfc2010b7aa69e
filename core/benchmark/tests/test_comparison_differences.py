"""Differences of two runs by quantity: the largest ones, and those until something touches in any world."""

import numpy as np
from pippin.recording import Series
from pippin_benchmark.comparison import _differing


def run(shift, touches=None):
    """Return series of 4 samples of 3 worlds; a shift grows by sample, and one world touches from a sample on."""
    depth = np.zeros((4, 3))
    if touches is not None:
        depth[touches:, 1] = 0.01
    places = np.zeros((4, 2, 3)) + shift * np.arange(4.0)[:, None, None] * [0.6, 0.0, 0.8]
    values = {"positions": places, "penetration": depth, "energy": shift * np.ones((4, 3))}
    return {name: Series(values=each, units=("1",)) for name, each in values.items()}


def test_places_count_as_untouched_until_a_world_touches_in_one_of_the_runs():
    found = _differing(run(2.0, touches=2), run(1.0))

    assert found == {"place_untouched": 1.0, "place": 3.0, "place_at_end": 3.0, "energy": 1.0, "penetration": 0.01}


def test_all_samples_are_untouched_if_nothing_touches():
    assert _differing(run(2.0), run(1.0))["place_untouched"] == 3.0


def test_a_run_without_series_differs_in_nothing_that_is_known():
    assert _differing({}, run(1.0)) == {}
