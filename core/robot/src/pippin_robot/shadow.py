"""A simulation beside a robot: it gets the same targets, and tells what it expects."""

from __future__ import annotations

import numpy as np
from pippin import Simulation
from pippin.arrays import on_host

from .contract import RobotReadings
from .plan import RobotPlan


class Shadow:
    """Steps a simulation with what is sent to a robot.

    Args:
        simulation: One world of the robot.
        plan: Where its joints are.
        steps: Control steps in a period.
        resync: Periods after which it is set to what the robot measures.
    """

    def __init__(self, simulation: Simulation, plan: RobotPlan, steps: int, resync: int) -> None:
        self._simulation, self._plan, self._steps, self._resync = simulation, plan, steps, resync
        self._count = 0
        self._squares = np.zeros(len(plan.joints))
        self._expected = np.full(len(plan.joints), np.nan)
        simulation.step(2)  # recorded before the loop begins

    def step(self, targets: np.ndarray, readings: RobotReadings) -> np.ndarray:
        """Compare what was expected with the readings, advance by a period, and return what was expected.

        Args:
            targets: What was sent, shape [joints].
            readings: What the robot measured before.
        """
        expected = self._expected
        if self._count % self._resync == 0:
            self._follow(readings)
            expected = readings.position.copy() if np.isnan(expected).any() else expected
        self._squares += (readings.position - expected) ** 2
        for label, (rows, columns) in self._plan.groups.items():
            array = self._simulation.actuators[label].position_targets
            whole = on_host(array).copy()
            whole[0, columns] = targets[rows]
            array.assign(whole)
        self._simulation.step(self._steps)
        self._expected = on_host(self._simulation.state.joint_q)[self._plan.coordinates].astype(np.float64)
        self._count += 1
        return expected

    def root_mean_square(self) -> np.ndarray:
        """Return that of what the robot measured less what was expected, shape [joints]."""
        return np.sqrt(self._squares / max(1, self._count))

    def _follow(self, readings: RobotReadings) -> None:
        self._plan.place(self._simulation, readings.position, readings.velocity)
