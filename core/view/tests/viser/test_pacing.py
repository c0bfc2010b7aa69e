"""Pacing: simulated time follows real time, and a delay is not caught up."""

import pytest
from pippin_view.viser import pacing
from pippin_view.viser.pacing import Meter, Pace


class Clock:
    """Real time [s] that passes when a test says so: on a loaded machine, a sleep takes longer than it was asked to."""

    def __init__(self):
        self.now = 1000.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(pacing, "time", clock)
    return clock


def test_simulated_time_waits_for_real_time(clock):
    pace = Pace(2.0)
    pace.wait_time(1.0)
    clock.now += 0.05

    assert pace.wait_time(1.5) == pytest.approx(0.2)


def test_without_a_speed_nothing_waits():
    pace = Pace(None)
    pace.wait_time(0.0)

    assert pace.wait_time(100.0) == 0.0


def test_a_long_delay_is_not_caught_up(clock):
    pace = Pace(1.0)
    pace.wait_time(0.0)
    clock.now += 0.15
    late = pace.wait_time(0.0)

    assert late == 0.0
    assert pace.wait_time(0.1) == pytest.approx(0.1), "it counts from the delay on"


@pytest.mark.alone
def test_another_speed_counts_from_now(clock):
    pace = Pace(1.0)
    pace.wait_time(0.0)
    clock.now += 5.0
    pace.speed = 0.5
    pace.wait_time(10.0)

    assert pace.wait_time(10.1) == pytest.approx(0.2)


def test_a_rate_is_measured_over_half_a_second(clock):
    meter = Meter()
    early = meter.look(0)
    clock.now += 0.4
    soon = meter.look(80)
    clock.now += 0.1

    assert (early, soon) == (None, None)
    assert meter.look(100) == pytest.approx(200.0)
    meter.restart()
    assert meter.look(200) is None
