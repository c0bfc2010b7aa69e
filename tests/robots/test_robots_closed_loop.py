"""Closed loops in two processes: a minute at 100 Hz, a fit of what was driven, the measured delay, and kills."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pippin
import pytest
from pippin_fit import fit
from pippin_robot import DriveSource, RobotFault, drive, latency
from pippin_robot.contract import RobotReadings
from pippin_robot.emulating import plugin_of
from pippin_robot.pace import Deadlines, before_others, percentiles

from .conftest import FILE, WATCHDOG, run
from .test_robots_drive_loop import UPRIGHT, table

PIPPIN = str(Path(sys.executable).with_name("pippin"))

TICK = 2.0 * np.pi / 4096

PERIOD = 2.47e-3
"""Time between two steps in which an emulated arm hears and tells, and keeps time [s]: a loop at 100 Hz is in all
phases of it.
"""


def fine(parts, delay):
    """Return changes with which a step of an arm has several physics steps, nearly as fine as those of a fit: coarse
    steps move sooner than fine ones. The actuators have a delay in physics steps.
    """
    dt = PERIOD / parts
    return f"simulation.dt={dt}", f"simulation.decimation={parts}", f"actuators.arm.delay.steps={delay}"


@contextlib.contextmanager
def emulated(port, *changes):
    """Run `pippin emulate` in the block, and refuse an arm that lost time: its log is that of another arm. Yields the
    process; after the block, its `answer` is how long a step took [s].
    """
    settings = [f"--set=robot.port='{port}'", "--set=simulation.device='cpu'", *(f"--set={each}" for each in changes)]
    command = [PIPPIN, "emulate", str(FILE), *settings]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if "the robot is at" in line:
            break
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=20.0)
    assert "slower than real time" not in told, told
    answers = re.search(r"from a command to the state that has it \[ms\]: p50 ([\d.]+)", told)
    process.answer = 1e-3 * float(answers[1]) if answers else None


def config_of(port, **overrides):
    return pippin.load(FILE, {"robot.port": str(port), "simulation.device": "cpu", **overrides})


def by_simulation(config, first, targets, steps):
    """Return the positions of a simulation with the targets of each period, shape [periods, joints]."""
    found = []
    with pippin.Simulation(config.with_tables(robot=None, motions=None)) as simulation:
        simulation.state.joint_q.assign(first.astype(np.float32))
        simulation.invalidate("joints")
        for row in targets:
            simulation.actuators["arm"].position_targets.assign(row[None].astype(np.float32))
            simulation.step(steps)
            found.append(simulation.state.joint_q.numpy()[:6].copy())
    return np.array(found)


def lateness_alone(seconds):
    """Return how late a loop at 100 Hz that does nothing begins its periods, the percentile 99.9 [s]."""
    pace = Deadlines(0.01)
    with before_others("require"):
        pace.begin()
        for _ in range(round(seconds / pace.period)):
            pace.wait()
    return percentiles(pace.late)["p99.9"]


@pytest.mark.slow
def test_an_arm_is_driven_for_a_minute(tmp_path):
    port = tmp_path / "bus"
    config = config_of(port)
    with emulated(port):
        found = drive(config, duration=60.0, out=tmp_path / "run")

    assert found.fault is None
    assert found.rate >= 0.995 * 100.0
    if found.scheduler.startswith("FIFO"):
        if found.late["p99.9"] > 1e-3 and (still := lateness_alone(30.0)) > 1e-3:
            pytest.skip(f"this machine pauses: a loop that only waits is {1e3 * still:.1f} ms late (p99.9)")
        assert found.late["p99.9"] < 1e-3
    recorded = pippin.Run(tmp_path / "run")
    measured = recorded["joint_q"].values[:, 0]
    targets = recorded["actuators/arm/position_targets"].values[:, 0]
    own = by_simulation(config, measured[0], targets[1:], 2)
    # The phase between the loop and the arm's steps is free: a position is one of its neighbours in time.
    near = np.stack([own[:-2], own[1:-1], own[2:]])
    beyond = np.maximum(near.min(axis=0) - measured[2:-1], measured[2:-1] - near.max(axis=0))
    assert beyond[200:].max() < 2.0 * TICK


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:fit.logs")  # the clock of a busy machine
def test_what_was_driven_is_fitted(tmp_path):
    """The arm has other numbers than its file, a delay, and an encoder whose zero is 20 counts away."""
    port, file = tmp_path / "bus", tmp_path / "fit.toml"
    file.write_text(f"""
extends = ["{FILE}"]

[simulation]
device = "cpu"
dt = 0.0005
decimation = 1

[robot]
port = "{port}"

[motions.roll]
type = "sine"
from_start = true
actuator = "arm"
joints = ["wrist_roll", "gripper"]
amplitude = 0.15
frequency = 0.7

[fit]
start = "estimated"
accept = ["clock", "commands"]  # a busy machine loses readings, and parts are short

[fit.signals.position]
std = 2e-3

[fit.parameters]
"actuators.arm.armature" = {{ range = [0.005, 0.2], each = "group" }}
"actuators.arm.friction.kc" = {{ range = [0.005, 0.5], each = "group" }}
"signals.delay" = {{ range = [0.0, 0.05] }}
"signals.offset" = {{ range = [-0.1, 0.1], joints = ["shoulder_lift"] }}
""")
    changes = ["actuators.arm.armature=0.04", "actuators.arm.friction.kc=0.08"]
    zero = "robot.joints.shoulder_lift.zero=2068"
    with emulated(port, *fine(5, delay=20), *changes, zero) as process:
        driven = drive(pippin.load(file), duration=12.0, out=tmp_path / "run")
    assert driven.fault is None
    found = fit(file, [tmp_path / "run" / "series.npz"], out=tmp_path / "found")

    with pippin.Run(tmp_path / "run") as run:
        turnaround = float(run["robot/turnaround"].values.mean())
    delay = 4 * PERIOD + process.answer + turnaround  # its own, and that of the loop
    truth = {"armature": 0.04, "kc": 0.08, "offset": 20 * TICK, "delay": delay}
    beyond = {"delay": 5e-4}
    assert len(found.verdicts) == len(truth)
    for each in found.verdicts:
        name = each.key.rpartition(".")[2]
        width = max(each.half_width, each.block_half_width or 0.0)
        assert abs(each.value - truth[name]) <= 1.5 * width + beyond.get(name, 0.0), each
        assert width < 0.3 * truth[name]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:fit.logs")
def test_the_delay_of_a_robot_is_measured(tmp_path):
    """The loop meets the steps of the arm at all phases; an arm is later than its file says by the time of a step."""
    port, file = tmp_path / "bus", tmp_path / "arm.toml"
    own = f'[robot]\nport = "{port}"\nsafety.watchdog = {WATCHDOG}\n'
    file.write_text(f'extends = ["{FILE}"]\n\n[simulation]\ndevice = "cpu"\n\n{own}')
    with emulated(port, *fine(6, delay=18)) as process:
        found = latency(file, out=tmp_path / "out")

    assert [own[0] for own in found.found.values()] == pytest.approx([3 * PERIOD + process.answer] * 2, abs=5e-4)
    assert 0.0 < found.turnaround < 3e-3
    assert found.delay_steps == 2  # of 5 ms
    assert "[actuators.arm.delay]\nsteps = 2\n" in (tmp_path / "out" / "latency.toml").read_text()


@pytest.mark.slow
def test_a_killed_emulator_is_a_fault_within_the_watchdog(drive_loop, port):
    with emulated(port) as process:
        loop = drive_loop(table(1000))
        told = loop.source.targets

        def targets(readings, period):
            if period == 30:
                process.kill()
                targets.killed = time.monotonic()
            return told(readings, period)

        loop.source.targets = targets
        end = run(loop)
        passed = time.monotonic() - targets.killed

    assert isinstance(end, RobotFault)
    assert end.kind in ("silence", "port")
    assert passed <= WATCHDOG + 0.01


@pytest.mark.slow
def test_servos_of_a_killed_driver_hold_their_last_goals(tmp_path):
    port = tmp_path / "bus"
    with emulated(port):
        command = [PIPPIN, "drive", str(FILE), f"--set=robot.port='{port}'", "--yes"]
        driver = subprocess.Popen([*command, "--duration=60", f"--out={tmp_path / 'run'}"], stderr=subprocess.DEVNULL)
        series = tmp_path / "run" / "series.npz.rows"
        while not series.exists() or series.stat().st_size < 20_000:
            time.sleep(0.1)
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
        robot = plugin_of(config_of(port))
        with contextlib.closing(robot.connect(_joints(port))) as other:
            first, later = RobotReadings(6), RobotReadings(6)
            time.sleep(1.0)
            other.read(first)
            time.sleep(1.0)
            other.read(later)
            has_torque = other.has_torque()

    assert has_torque
    assert np.abs(later.position - first.position).max() < 3.0 * TICK
    assert np.abs(first.position - UPRIGHT).max() < 1.2  # it did not fall


def _joints(port):
    from pippin_robot.plan import RobotPlan

    config = config_of(port)
    with pippin.Simulation(config.with_tables(motions=None)) as simulation:
        return RobotPlan.of(simulation, config.robot.config).joints


def test_a_source_is_one_alone(tmp_path):
    with pytest.raises(pippin.ConfigError, match=r"--policy: given beside --replay"):
        DriveSource(policy=tmp_path, replay=tmp_path)
    with pytest.raises(pippin.ConfigError, match="only a policy takes commands"):
        DriveSource(commands={"velocity": [0.0]})
