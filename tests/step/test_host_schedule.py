"""Viewers and `after_step`: called when they are due and no more often, paused by viewers, and never ended by one."""

import logging
import math
import re
import time as clock

import pippin
import pytest

CONTROL_DT = 0.01


class Log:
    """Notes the control steps after which it is called."""

    is_observer = True

    def __init__(self, **attributes):
        self.steps = []
        for name, value in attributes.items():
            setattr(self, name, value)


class Recorder(Log):
    @pippin.hookimpl
    def after_step(self, simulation):
        self.steps.append(simulation.step_count)


class Viewer(Log):
    @pippin.hookimpl
    def frame(self, simulation, time):
        assert time == simulation.time
        self.steps.append(simulation.step_count)


pytestmark = pytest.mark.simulation(dt=CONTROL_DT, prototype="ball", solver="xpbd")


def strides(simulation):
    """Record how many control steps each call of the program takes."""
    taken, step = [], simulation.program.step

    def noted(count, done):
        taken.append(count)
        step(count, done=done)

    simulation.program.step = noted
    return taken


def test_a_recorder_with_a_period_lets_the_steps_between_run_in_one_call(simulate):
    recorder = Recorder(period=4 * CONTROL_DT)
    with simulate(plugins=[recorder]) as simulation:
        simulation.step(2)
        taken = strides(simulation)
        simulation.step(10)

    assert recorder.steps == [4, 8, 12]
    assert taken == [2, 4, 4]


def test_a_period_that_is_not_a_whole_number_of_steps_is_refused(simulate):
    with pytest.raises(pippin.ConfigError, match=r"plugins\.recorder\.period: 0\.025 s is not a whole number"):
        simulate(plugins=[Recorder(period=0.025)])


def test_frames_of_simulated_time_come_after_the_step_that_reaches_them(simulate):
    viewer = Viewer(frame_period=0.025)
    with simulate(plugins=[viewer]) as simulation:
        simulation.step(10)

    assert viewer.steps == [0, 3, 5, 8, 10]


def test_a_viewer_without_a_rate_sees_every_control_step(simulate):
    viewer = Viewer()
    with simulate(plugins=[viewer]) as simulation:
        simulation.step(3)

    assert viewer.steps == [0, 1, 2, 3]


def test_frames_of_real_time_are_left_out_if_they_come_late(simulate):
    viewer = Viewer(frame_rate=50.0)
    with simulate(plugins=[viewer]) as simulation:
        simulation.step(1)
        start, seen = clock.perf_counter(), len(viewer.steps)
        while clock.perf_counter() < start + 0.1:
            simulation.step(5)
        passed = clock.perf_counter() - start

    assert 1 <= len(viewer.steps) - seen <= passed * 50.0 + 1


def test_frames_that_a_slow_viewer_misses_are_counted(simulate):
    class Slow(Viewer):
        frame_rate = 100.0

        @pippin.hookimpl
        def frame(self, simulation, time):
            self.steps.append(simulation.step_count)
            clock.sleep(0.05)

    with simulate(plugins=[Slow()]) as simulation:
        start = clock.perf_counter()
        while clock.perf_counter() < start + 0.2:
            simulation.step()
        (note,) = simulation.notes["plugins:slow"]

    late, count = map(int, re.match(r"(\d+) of (\d+) frames were left out", note).groups())
    assert 3 <= late < count


def test_the_caller_s_own_time_makes_no_frame_late(simulate):
    def late(simulation):
        return [note.split()[0] for note in simulation.notes.get("plugins:viewer", ())]

    with simulate(plugins=[Viewer(frame_rate=4.0)]) as simulation:
        simulation.step(2)  # the first step compiles, and may take long
        before = late(simulation)
        clock.sleep(0.8)
        simulation.step(2)

        assert late(simulation) == before


def test_no_frame_is_made_if_nobody_looks(simulate):
    viewer = Viewer(wants_frame=lambda: False)
    with simulate(plugins=[viewer]) as simulation:
        simulation.step(3)

    assert viewer.steps == [0]


def test_a_pause_holds_the_time_and_one_step_is_one_step(simulate):
    answers = iter([0.0, math.inf, math.inf, 0.0, math.inf, 0.0, 0.0, 0.0])
    viewer = Viewer(frame_rate=1000.0, wait_time=lambda: next(answers))
    with simulate(plugins=[viewer]) as simulation:
        simulation.step(1)
        taken = strides(simulation)
        simulation.step(4)
        waited = simulation.seconds_waited

    assert taken[:2] == [1, 1]
    assert sum(taken) == 4
    assert 0.03 <= waited < 1.0
    assert viewer.steps.count(1) > 1, "frames go on in a pause"


def test_a_viewer_that_acts_gets_every_step_until_it_rests(simulate):
    answers = iter([True, True, False])
    viewer = Viewer(frame_rate=1.0, act=lambda: next(answers, False))
    with simulate(plugins=[viewer]) as simulation:
        taken = strides(simulation)
        simulation.step(40)

    assert taken[:2] == [1, 1]
    assert max(taken[2:]) > 1


def test_a_simulation_says_when_it_waits(simulate):
    said = []

    class Pausing(Viewer):
        frame_rate = 1000.0

        def wait_time(self):
            return math.inf if len(self.steps) < 3 else 0.0

        @pippin.hookimpl
        def frame(self, simulation, time):
            self.steps.append(simulation.step_count)
            said.append(getattr(simulation, "is_waiting", None))

    with simulate(plugins=[Pausing()]) as simulation:
        simulation.step(1)
        assert not simulation.is_waiting

    assert True in said


def test_a_viewer_may_reset_worlds_in_a_frame(simulate):
    class Resetting(Viewer):
        @pippin.hookimpl
        def frame(self, simulation, time):
            if simulation.step_count == 2:
                simulation.reset()

    with simulate(plugins=[Resetting()]) as simulation:
        start = simulation.state.body_q.numpy().copy()
        simulation.step(2)
        after = simulation.state.body_q.numpy().copy()

    assert (start == after).all()


@pytest.mark.parametrize("method", ["frame", "wants_frame", "wait_time", "close"])
def test_a_viewer_that_raises_is_switched_off_and_ends_nothing(simulate, method, caplog):
    def fail(*_):
        raise RuntimeError("the window is gone")

    class Broken(Viewer):
        @pippin.hookimpl
        def frame(self, simulation, time):
            self.steps.append(simulation.step_count)
            if method == "frame" and simulation.step_count == 2:
                fail()

        @pippin.hookimpl
        def close(self):
            if method == "close":
                fail()

    viewer = Broken()
    if method in ("wants_frame", "wait_time"):
        setattr(viewer, method, fail)
    with caplog.at_level(logging.WARNING, "pippin"), simulate(plugins=[viewer]) as simulation:
        simulation.step(4)
        notes = simulation.notes.get("plugins:broken", [])

    assert simulation.step_count == 4
    assert [record for record in caplog.records if "the window is gone" in record.getMessage()]
    assert len(caplog.records) == 1, "said once"
    if method != "close":
        assert "switched off at t =" in notes[0]
        assert f"{method} raised RuntimeError: the window is gone" in notes[0]
    if method == "frame":
        assert viewer.steps == [0, 1, 2]


def test_an_exception_of_a_recorder_ends_the_step(simulate):
    class Broken(Recorder):
        @pippin.hookimpl
        def after_step(self):
            raise OSError("disk full")

    with (
        simulate(plugins=[Broken()]) as simulation,
        pytest.raises(pippin.PluginError, match="after_step raised OSError"),
    ):
        simulation.step()
