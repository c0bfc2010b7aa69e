"""The loop of `pippin drive` with the real driver, a real port, the bus's program and an emulated arm."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from pippin.errors import ConfigError
from pippin_robot import RobotFault, RobotReadings
from pippin_robot.sources import TableSource, TargetSource

from .conftest import WATCHDOG, run

TICK = 2.0 * np.pi / 4096

UPRIGHT = np.array([0.0, -0.6, 0.6, 0.4, 0.0, 0.0])


def table(periods, way=0.0):
    """Return targets that go along a line."""
    return UPRIGHT + way * np.linspace(0.0, 1.0, periods)[:, None]


def test_a_robot_follows_its_targets_and_is_left_as_found(emulator, drive_loop, port):
    with emulator.emulated({"robot.port": port}):
        loop = drive_loop(table(150, way=0.2))
        end = run(loop)
        last, has_torque = loop.readings.position.copy(), loop.driver.has_torque()
        time.sleep(0.1)  # some steps of the arm

    assert end is None
    assert np.abs(last - (UPRIGHT + 0.2)).max() < 0.08  # a servo sags by its gain
    assert not has_torque
    assert not any(emulator.result["enabled"])


def test_readings_are_those_of_the_simulation(emulator, drive_loop, port):
    with emulator.emulated({"robot.port": port, "robot.joints.wrist_roll.sign": -1, "robot.joints.gripper.zero": 1500}):
        time.sleep(2.0)  # limp, it falls and rests
        loop = drive_loop(table(1), **{"robot.joints.wrist_roll.sign": -1, "robot.joints.gripper.zero": 1500})
        readings = RobotReadings(6)
        loop.driver.read(readings)

    apart = np.abs(readings.position - emulator.result["positions"])
    assert (apart < 1.01 * TICK + 0.3 * np.abs(readings.velocity)).all()  # it still creeps
    assert readings.voltage == pytest.approx(7.4, abs=0.06)
    assert readings.temperature == pytest.approx(25.0)


def test_torque_is_given_where_the_robot_is(emulator, drive_loop, port):
    """An old goal in the registers does not move the arm: it is overwritten before the torque."""
    with emulator.emulated({"robot.port": port}):
        time.sleep(3.0)  # it falls, and leans on its stops
        loop = drive_loop(table(1), **{"robot.safety.soft_start": 1.0})
        loop.driver.read(loop.readings)
        rest = loop.readings.position.copy()
        loop.limits.begin(rest)
        loop.driver.tell_all(42, [b"\x00\x08"] * 6)  # goals at the middle, before the torque
        loop._begin()
        time.sleep(0.1)
        loop.driver.read(loop.readings)
        moved = np.abs(loop.readings.position - rest)

    assert moved.max() < 0.05
    assert np.abs(rest - UPRIGHT).max() > 0.3  # else nothing would show


def test_a_dry_run_moves_nothing(emulator, drive_loop, port):
    with emulator.emulated({"robot.port": port}):
        loop = drive_loop(table(60, way=0.5), dry=True, **{"robot.limits.velocity": 0.1})
        loop.driver.set_torque(True)
        before = RobotReadings(6)
        loop.driver.read(before)
        end = run(loop)

    assert end is None
    assert np.abs(np.array(emulator.result["positions"]) - before.position).max() < 0.03
    assert loop.limits.counts["velocity"]["shoulder_pan"] > 30


class Bad(TargetSource):
    """Gives targets that are no numbers after a while."""

    def first(self, readings):
        return UPRIGHT

    def targets(self, readings, period):
        return np.where(period < 20, UPRIGHT, np.nan)


FAULTS = {
    "silence": ([{"kind": "silence"}], {}, "silence"),
    "heat": ([{"kind": "heat", "value": 65.0, "joints": ["elbow_flex"]}], {}, "heat"),
    "sag": ([{"kind": "sag", "value": 5.0}], {"robot.safety.voltage": [6.0, 8.4]}, "voltage"),
    "overload": ([{"kind": "overload", "joints": ["gripper"]}], {}, "overload"),
    "corrupt": ([{"kind": "corrupt", "value": 1.0}], {}, "silence"),
}


class Telling(TableSource):
    """Holds a pose, and calls something after a while."""

    def __init__(self, call):
        super().__init__(table(1000))
        self._call, self.begun = call, 0.0

    def targets(self, readings, period):
        if period == 20:
            self._call()
            self.begun = time.monotonic()
        return super().targets(readings, period)


@pytest.mark.parametrize(
    "on_fault", ["limp", *(pytest.param(each, marks=pytest.mark.slow) for each in ("hold", "damp"))]
)
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_leaves_the_robot_as_its_safety_says(emulator, drive_loop, port, name, on_fault):
    faults, keys, kind = FAULTS[name]
    with emulator.emulated({"robot.port": port, "robot.emulate.faults": faults, "gated": True}):
        loop = drive_loop(Telling(emulator.begin_fault), **{"robot.safety.on_fault": on_fault, **keys})
        end = run(loop)
        passed = time.monotonic() - loop.source.begun
        time.sleep(0.3)

    assert isinstance(end, RobotFault)
    assert end.kind == kind
    assert passed < 1.0 + WATCHDOG  # a line to the emulator, and its next step
    # What it was told last reaches it also when it does not answer.
    assert emulator.result["enabled"][0] is (on_fault != "limp")


@pytest.mark.parametrize("share", [{"drop": 0.01}, {"corrupt": 0.01}, {"drop": 0.05}])
def test_lost_and_damaged_answers_end_nothing(emulator, drive_loop, port, share):
    ((kind, value),) = share.items()
    with emulator.emulated({"robot.port": port, "robot.emulate.faults": [{"kind": kind, "value": value}]}):
        loop = drive_loop(table(300))
        end = run(loop)

    assert end is None
    assert loop.driver.counts()["retries"] > 0


def test_targets_that_are_no_numbers_end_it_within_the_watchdog(emulator, drive_loop, port):
    with emulator.emulated({"robot.port": port}):
        loop = drive_loop(Bad())
        end = run(loop, 5.0)

    assert isinstance(end, RobotFault)
    assert end.kind == "target"
    assert (len(loop.pace.late) - 40) * 0.01 <= WATCHDOG + 0.01


def test_a_silence_is_found_within_the_watchdog(emulator, drive_loop, port):
    faults = [{"kind": "silence"}]
    with emulator.emulated({"robot.port": port, "robot.emulate.faults": faults, "gated": True}):
        loop = drive_loop(Telling(emulator.begin_fault))
        end = run(loop)
        passed = time.monotonic() - loop._fresh

    assert isinstance(end, RobotFault)
    assert passed <= WATCHDOG + 0.01


def test_a_stall_of_the_loop_is_late(emulator, drive_loop, port):
    class Slow(Bad):
        def targets(self, readings, period):
            time.sleep(0.012 if period > 20 else 0.0)
            return UPRIGHT

    with emulator.emulated({"robot.port": port}):
        loop = drive_loop(Slow())
        loop.pace.period = 0.01
        end = run(loop, 5.0)

    assert isinstance(end, RobotFault)
    assert end.kind == "late"


def test_a_robot_beyond_its_limits_is_not_driven(emulator, drive_loop, port):
    """The zero of the file is another one: 600 counts are more than the arm's own play."""
    with emulator.emulated({"robot.port": port, "robot.joints.gripper.zero": 2048}):
        loop = drive_loop(table(10), **{"robot.joints.gripper.zero": 2648})
        with pytest.raises(RobotFault, match=r"gripper is at -0.92.* zero"):
            loop.run(None)
        has_torque = loop.driver.has_torque()

    assert not has_torque


def test_ctrl_c_leaves_the_robot_as_its_safety_says(emulator, drive_loop, port):
    class Stopping(Bad):
        def targets(self, readings, period):
            if period == 20:
                os.kill(os.getpid(), signal.SIGINT)
            return UPRIGHT

    with emulator.emulated({"robot.port": port}):
        loop = drive_loop(Stopping(), **{"robot.safety.on_fault": "limp"})
        end = run(loop, 5.0)
        time.sleep(0.1)

    assert isinstance(end, KeyboardInterrupt)
    assert not any(emulator.result["enabled"])


def test_the_stop_key_is_a_fault(emulator, drive_loop, port):
    with emulator.emulated({"robot.port": port}):
        loop = drive_loop(table(300))
        loop.stop_key = lambda: len(loop.pace.late) > 30
        end = run(loop)

    assert isinstance(end, RobotFault)
    assert end.kind == "stop"


def test_a_port_that_another_program_has_is_refused(emulator, drive_loop, port):
    with emulator.emulated({"robot.port": port}):
        drive_loop(table(1))
        with pytest.raises(ConfigError, match="cannot be opened"):
            drive_loop(table(1))


def test_servos_of_other_addresses_do_not_answer(emulator, drive_loop, port):
    with emulator.emulated({"robot.port": port}), pytest.raises(RobotFault, match=r"no answer .* \[1, 2, 3, 4, 5, 9\]"):
        drive_loop(table(1), **{"robot.joints.gripper.id": 9})


def test_a_rate_that_the_bus_cannot_carry_is_refused(drive_loop):
    with pytest.raises(ConfigError, match=r"robot.rate: .* ask for at most \d+ Hz"):
        drive_loop(table(1), **{"robot.rate": 100.0, "robot.baud": 115200})
