"""The page of a robot in a real browser: its button, its sliders, and its end; the hand of an emulated robot."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pippin
import pytest
from pippin_robot import RobotReadings
from pippin_robot.robot_page import PageHand, PageSource, RobotPage

from core.view.tests.viser.chromium import Chromium, until

from .conftest import FILE, run
from .test_robots_drive_loop import UPRIGHT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Chromium.is_installed(), reason="needs Chromium"),
]


@pytest.fixture
def page():
    """The page of the arm."""
    found = RobotPage(pippin.load(FILE, {"simulation.device": "cpu"}), 6)
    yield found
    found.close()


@pytest.fixture
def tab(page, tmp_path):
    """The page in a browser."""
    browser = Chromium(tmp_path / "chromium")
    try:
        tab = browser.open(page.url)
        until(lambda: tab.shows("Stop the robot") and tab.shows("shoulder_pan"), "the page")
        yield tab
    finally:
        browser.close()


class Acting(PageSource):
    """Sliders, and a person who acts from some periods on, beside the loop."""

    def __init__(self, page, acts):
        super().__init__(page)
        self._acts = acts

    def targets(self, readings, period):
        if period in self._acts:
            threading.Thread(target=self._acts[period]).start()
        return super().targets(readings, period)


def test_a_slider_moves_the_robot_and_the_button_stops_it(emulator, drive_loop, port, page, tab):
    def person():
        tab.key(0, "End")
        until(lambda: page.targets()[0] > 1.7, "the slider")
        time.sleep(3.0)  # on the way, at the limit on speed
        tab.press("Reset")
        time.sleep(1.0)
        tab.press("Stop the robot")

    acts = {20: person}
    with emulator.emulated({"robot.port": port}):
        loop = drive_loop(Acting(page, acts), **{"robot.safety.watchdog": 1.0})
        loop.page = page
        end = run(loop, 60.0)
        held = loop.driver.has_torque()
        last = loop.readings.position.copy()
        shown = page._memory.measured.copy()

    assert str(end) == "emergency stop"
    assert end.kind == "stop"
    assert held  # on_fault = hold
    assert last[0] > 1.7  # Reset moves nothing
    assert np.abs(last[1:] - shown[1:]).max() < 0.05
    assert shown[0] == pytest.approx(last[0], abs=0.02)


def test_a_robot_is_left_as_declared_if_its_page_dies(emulator, drive_loop, port, page):
    times = []

    def die():
        os.kill(page._process.pid, signal.SIGKILL)
        times.append(time.monotonic())

    acts = {30: die}
    with emulator.emulated({"robot.port": port}):
        loop = drive_loop(Acting(page, acts))
        loop.page = page
        end = run(loop, 5.0)
        times.append(time.monotonic())
        is_held = loop.driver.has_torque()

    assert (str(end), end.kind) == ("the page is gone, and its button with it", "stop")
    assert is_held
    assert times[1] - times[0] < 0.7  # 0.5 s, and what the kill and the stop take


def test_a_hand_on_the_page_holds_joints_without_torque(page, tab):
    hand, limp = PageHand(page), np.zeros(6, dtype=bool)
    readings = RobotReadings(6)
    readings.position[:] = UPRIGHT
    first = hand.positions(readings, 0.0, limp, None)
    until(lambda: page.targets()[1] == pytest.approx(-0.6, abs=1e-3) and tab.shows("shoulder_lift"), "the sliders")
    tab.key(0, "End")
    until(lambda: page.targets()[0] > 1.8, "the moved slider")
    moved = hand.positions(readings, 1.0, limp, None)
    readings.position[:] = moved
    held = hand.positions(readings, 2.0, np.arange(6) == 0, None)
    readings.position[0] = 0.5  # with torque, a program moved it
    freed = hand.positions(readings, 3.0, limp, None)

    assert first == pytest.approx(UPRIGHT, abs=1e-6)
    assert moved[0] > 1.8
    assert moved[1:] == pytest.approx(UPRIGHT[1:], abs=1e-3)
    assert np.isnan(held[0])
    assert held[1:] == pytest.approx(UPRIGHT[1:], abs=1e-3)
    assert freed == pytest.approx([0.5, *UPRIGHT[1:]], abs=1e-3)
