"""The SO-101 arm of the examples as a bus of servos, stepped by the test itself."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import numpy as np
from pippin import Simulation, load
from pippin_robot.emulating import Emulator, plugin_of
from pippin_robot.pace import Deadlines, before_others

FILE = Path(__file__).parents[3] / "docs/examples/so101_robot.toml"
TICK = 2.0 * np.pi / 4096
JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")


class Arm:
    """An emulated arm at a link.

    Args:
        link: Where the port appears.
        hand: As of `pippin emulate`.
        calibrated: Likewise.
        overrides: Keys of the file.
    """

    def __init__(self, link, hand=None, calibrated=None, **overrides):
        keys = {key.replace("__", "."): value for key, value in overrides.items()}
        config = load(FILE, {"robot.port": str(link), **keys})
        self.simulation = Simulation(config.with_tables(motions=None))
        self.emulator = Emulator(self.simulation, plugin_of(config), hand=hand)
        if calibrated is not None:
            self.emulator.calibrate(Path(calibrated))
        self.emulator.open()

    def step(self, seconds):
        """Step for a time of the simulation, as fast as it goes."""
        for _ in range(round(seconds / self.simulation.dt)):
            self.emulator.step()
            self.emulator.time += self.simulation.dt

    def position(self, name):
        """Return the position of a joint [rad]."""
        return float(self.emulator.readings.position[JOINTS.index(name)])

    def serve(self, *command, limit=120.0, **options):
        """Step in real time while a program runs, and return its output, and (time, positions) of each step."""
        pace, path = Deadlines(self.simulation.dt), []
        program = subprocess.Popen(
            [str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
        )
        end = time.monotonic() + limit
        with before_others("try"):
            pace.begin()
            while program.poll() is None and time.monotonic() < end:
                self.emulator.step()
                path.append((time.monotonic(), self.emulator.readings.position.copy()))
                pace.wait()
                self.emulator.time += pace.period
        program.kill()
        told = program.communicate()[0]
        assert program.returncode == 0, told
        return told, path

    def close(self):
        self.emulator.close()
        self.simulation.close()
