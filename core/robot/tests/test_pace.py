"""Deadlines of a loop that stalls."""

import time

import pytest
from pippin_robot.pace import Deadlines

PERIOD, STALL, COUNT = 0.005, 0.05, 40


@pytest.mark.parametrize("catches_up", [0.0, 1.0])
def test_a_delay_is_left_out_or_made_up_for(catches_up):
    pace = Deadlines(PERIOD, catches_up)
    pace.begin()
    for number in range(COUNT):
        if number == 5:
            time.sleep(STALL)
        pace.wait()

    passed = (COUNT + pace.dropped) * PERIOD
    assert (pace.dropped == 0) if catches_up else (pace.dropped >= STALL / PERIOD - 2)
    assert max(pace.late) >= STALL - 2 * PERIOD
    assert pace.seconds >= passed - 1e-6  # no period ends before its time
    assert min(pace.late[-10:]) < PERIOD  # and the loop is in time again
