"""The SO-101 arm of the examples as a bus of servos, stepped by the test itself."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
from pippin import Simulation, load
from pippin_robot.emulating import Emulator, plugin_of
from pippin_robot.pace import Deadlines, before_others

FILE = Path(__file__).parents[3] / "docs/examples/so101_robot.toml"
TICK = 2.0 * np.pi / 4096
JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")


class Program:
    """A program whose output is read while it runs, and that gets ENTER when a test wants it."""

    def __init__(self, *command, **options):
        self._process = subprocess.Popen(
            [str(each) for each in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            **options,
        )
        self._told, self._seen = bytearray(), 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while data := os.read(self._process.stdout.fileno(), 65536):
            self._told += data

    def is_running(self):
        return self._process.poll() is None

    def has_told(self, text):
        """Return whether a text came since the last one that was found."""
        found = self._told.find(text.encode(), self._seen)
        self._seen = self._seen if found < 0 else found + len(text)
        return found >= 0

    def enter(self):
        self._process.stdin.write(b"\n")

    def wait(self, seconds):
        """Wait for its end, which may be late: then it is killed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def interrupt(self):
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    def end(self):
        """Return the output; the program must have ended well."""
        if is_late := self.is_running():
            self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stdin.close()
        self._process.stdout.close()
        told = self._told.decode(errors="replace")
        assert not is_late, f"it did not end in time: {told}"
        assert self._process.returncode == 0, told
        return told


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

    def serve(self, *command, answers=(), limit=200.0, **options):
        """Step in real time while a program runs, and return its output, and (time, positions) of each step.

        Args:
            *command: The program.
            answers: What a person does: (text that appears, seconds until ENTER), one after the other.
            limit: Time after which the program ends [s].
            **options: Of the process.
        """
        pace, path, waiting = Deadlines(self.simulation.dt), [], list(answers)
        program = Program(*command, **options)
        end, due = time.monotonic() + limit, None
        with before_others("try"):
            pace.begin()
            while program.is_running() and time.monotonic() < end:
                self.emulator.step()
                path.append((time.monotonic(), self.emulator.readings.position.copy()))
                pace.wait()
                self.emulator.time += pace.period
                if due is None and waiting and program.has_told(waiting[0][0]):
                    due = time.monotonic() + waiting.pop(0)[1]
                if due is not None and time.monotonic() > due:
                    program.enter()
                    due = None
        return program.end(), path

    def close(self):
        self.emulator.close()
        self.simulation.close()
