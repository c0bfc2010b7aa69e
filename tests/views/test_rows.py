"""A setter is called in every step of a loop in Python: it reads, checks and writes in few calls, each check once."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pippin
import pytest

CALLS = 40
FILES = 16
ROOT = str(Path(pippin.__file__).parent)


@pytest.fixture(scope="module")
def arms(walker, build):
    with build("mujoco", walker(), 3) as simulation:
        yield simulation.view.articulations("walker")


def calls_of(function):
    """Return how often each function of Pippin is called, by file and name, after a call that warms up."""
    function()
    counts = Counter()

    def count(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            counts[frame.f_code.co_filename, frame.f_code.co_qualname] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
    return counts


def test_rows_are_set_from_the_host_in_few_calls(arms):
    data = np.zeros(arms.shape_of("dof_positions"), np.float32)

    counts = calls_of(lambda: arms.set_dof_positions(data, indices=[1]))

    assert sum(counts.values()) <= CALLS
    assert len({file for file, _ in counts}) <= FILES


def test_numbers_on_the_host_are_checked_once(arms):
    data = np.zeros(arms.shape_of("dof_positions"), np.float32)

    names = Counter(name for _, name in calls_of(lambda: arms.set_dof_positions(data, indices=[1])).elements())

    assert names["ValueRule.allows"] == 1
    assert names["Simulation.stepped_state"] == 1
