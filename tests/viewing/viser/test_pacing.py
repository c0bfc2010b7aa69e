"""Pacing: simulated time follows real time, and a delay is not caught up."""

import time

import pytest
from pippin.viewing.viser.pacing import Meter, Pace


def test_simulated_time_waits_for_real_time():
    pace = Pace(2.0)
    pace.wait_time(1.0)

    assert pace.wait_time(1.5) == pytest.approx(0.25, abs=0.05)


def test_without_a_speed_nothing_waits():
    pace = Pace(None)
    pace.wait_time(0.0)

    assert pace.wait_time(100.0) == 0.0


def test_a_long_delay_is_not_caught_up():
    pace = Pace(1.0)
    pace.wait_time(0.0)
    time.sleep(0.15)
    late = pace.wait_time(0.0)

    assert late == 0.0
    assert pace.wait_time(0.1) == pytest.approx(0.1, abs=0.05), "it counts from the delay on"


def test_another_speed_counts_from_now():
    pace = Pace(1.0)
    pace.wait_time(0.0)
    pace.speed = 0.5
    pace.wait_time(10.0)

    assert pace.wait_time(10.1) == pytest.approx(0.2, abs=0.05)


def test_a_rate_is_measured_over_half_a_second():
    meter = Meter()
    early = meter.look(0)
    time.sleep(0.5)

    assert early is None
    assert meter.look(100) == pytest.approx(200.0, rel=0.2)
    meter.restart()
    assert meter.look(200) is None
