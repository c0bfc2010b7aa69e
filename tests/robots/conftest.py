"""Emulated robots in a process of their own, and the loop that drives them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pippin
import pytest
from pippin_robot.drive_loop import DriveLoop
from pippin_robot.drive_plan import plan_drive
from pippin_robot.emulating import plugin_of
from pippin_robot.limits import TargetLimits
from pippin_robot.pace import Deadlines, before_others
from pippin_robot.sources import DriveSource, TableSource

WATCHDOG = 0.3
"""That of the tests [s]: on a busy machine, answers come late."""

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs/examples/so101_robot.toml"


class EmulatorProcess:
    """A process that is the robot of a file, with other overrides each time."""

    def __init__(self, file):
        program = Path(__file__).with_name("emulator_process.py")
        self.process = subprocess.Popen(
            [sys.executable, program, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._line() == "ready"
        self.result = None

    def _line(self):
        for line in self.process.stdout:
            if not line.startswith(("Warp", "Module")):
                return line.strip()
        return ""

    @contextlib.contextmanager
    def emulated(self, overrides):
        """Be the robot in the block; its result is in `result` then."""
        self.process.stdin.write(json.dumps(overrides) + "\n")
        self.process.stdin.flush()
        assert self._line() == overrides["robot.port"]
        try:
            yield
        finally:
            self.process.stdin.write("end\n")
            self.process.stdin.flush()
            self.result = json.loads(self._line())

    def begin_fault(self):
        """Let the faults of a gated robot begin."""
        self.process.stdin.write("fault\n")
        self.process.stdin.flush()

    def kill(self):
        """End it without a word."""
        os.kill(self.process.pid, signal.SIGKILL)

    def close(self):
        """End it."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture(scope="session")
def emulator():
    """A process that is an SO-101."""
    process = EmulatorProcess(FILE)
    yield process
    process.close()


@pytest.fixture(scope="session")
def planned():
    """What a drive needs of the file; its simulation is closed."""
    config = pippin.load(FILE, {"simulation.device": "cpu"})
    plan = plan_drive(config, DriveSource(), 1.0, is_shadowed=False, has_page=False, resync=1.0)
    yield plan
    plan.close()


@pytest.fixture
def port(tmp_path):
    """A link to a port that is made."""
    return str(tmp_path / "bus")


@pytest.fixture
def drive_loop(planned, port):
    """Return the loop of a drive: its targets, shape [periods, joints], and overrides of the file."""
    drivers = []

    def make(table, dry=False, **overrides):
        keys = {"simulation.device": "cpu", "robot.port": port, "robot.safety.soft_start": 0.2}
        keys["robot.safety.watchdog"] = WATCHDOG
        robot = plugin_of(pippin.load(FILE, keys | overrides))
        driver = robot.connect(planned.plan.joints)
        drivers.append(driver)
        source = table if hasattr(table, "targets") else TableSource(np.asarray(table, dtype=float))
        return DriveLoop(
            robot=robot,
            joints=planned.plan.joints,
            driver=driver,
            source=source,
            limits=TargetLimits(robot.config, planned.plan.joints, 1.0 / robot.config.rate),
            pace=Deadlines(1.0 / robot.config.rate),
            groups={"arm": np.arange(6)},
            gains=planned.gains,
            is_dry=dry,
        )

    yield make
    for driver in drivers:
        driver.close()


def run(loop, duration=None):
    """Run a loop before other programs, where the system permits it."""
    with before_others("try"):
        return loop.run(duration)
