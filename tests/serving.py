"""A robot whose joints go to their targets at once, served in a thread at 200 Hz; and programs of others beside it."""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
from pippin_robot import DrivenJoint, RobotReadings

DOMAIN = 100 + os.getpid() % 100
"""A domain of this process alone, as others may run tests, too."""


class Served:
    """A server with its last commands."""

    def __init__(self, robot, joints):
        self.server = robot.serve(joints)
        self.readings = RobotReadings(len(joints))
        self.readings.position[:] = 0.1 * np.arange(len(joints))
        self.readings.velocity[:] = self.readings.effort[:] = 0.0
        self.readings.orientation[:] = 0.0, 0.0, 0.6, 0.8
        self.readings.angular_velocity[:], self.readings.acceleration[:] = (1.0, 2.0, 3.0), (0.0, 0.0, 9.81)
        self.commands, self._is_over = None, threading.Event()
        self.error = None
        self._thread = threading.Thread(target=self._run)

    def start(self):
        self.server.open(self.readings)
        self._thread.start()

    def _run(self):
        try:
            while not self._is_over.wait(0.005):
                self.readings.simulated += 0.005
                self.commands = self.server.commands(self.readings)
                given = ~np.isnan(self.commands.position)
                self.readings.position[given] = self.commands.position[given]
                self.server.publish(self.readings)
        except BaseException as error:
            self.error = error

    def stop(self):
        self._is_over.set()
        self._thread.join()
        self.server.close()
        if self.error is not None:
            raise self.error


def joints_of(names):
    """Return joints that turn by up to 3 rad."""
    return [
        DrivenJoint(name=name, lower=-3.0, upper=3.0, velocity_limit=10.0, effort_limit=5.0, start=0.0)
        for name in names
    ]


@contextmanager
def served(robot):
    """Yield a robot that runs."""
    found = Served(robot, joints_of(robot.config.joints))
    found.start()
    try:
        yield found
    finally:
        found.stop()


def peer(program, *arguments):
    """Run a program of others to its end, and return the lines that it prints, from JSON."""
    done = subprocess.run(
        [sys.executable, str(program), *map(str, arguments)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def within(seconds, is_true):
    """Wait until something holds, and return whether it does."""
    end = time.monotonic() + seconds
    while not (found := is_true()) and time.monotonic() < end:
        time.sleep(0.01)
    return found
