"""A page that shows a robot beside its loop, with a button that stops it, and sliders: a process of its own."""

from __future__ import annotations

import mmap
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from pippin import Simulation, SimulationConfig
from pippin.arrays import on_host
from pippin.config import structure_choice
from pippin.studies import current_progress
from pippin.workers import WorkerProcess

from .config import ACTING
from .contract import RobotFault, RobotReadings
from .plan import RobotPlan
from .sources import TargetSource

_STOPPED, _ALIVE, _WANTED, _DONE, _HEAD = range(5)
"""Numbers before those of the joints: whether the button was pressed, when the page was alive [s], and how often the
sliders were asked to be set, and were."""

_SILENT = 0.5
"""Time without a sign of life after which the page is gone [s]."""

_START = 120.0
"""Longest time that the page may take to be there [s]."""


class RobotPage:
    """The page of a robot.

    Args:
        config: The file. What acts in it is left out; of its viewers, the page's settings are kept.
        count: Number of driven joints.
        has_button: Whether a button stops the robot.

    Raises:
        PluginError: The viewer `viser` is not installed.
        SimulationError: The page's process ended.
    """

    def __init__(self, config: SimulationConfig, count: int, *, has_button: bool = True) -> None:
        own = [each for each in config.viewers.values() if each.type == "viser"]
        page = own[0] if own else structure_choice("viewer", {"type": "viser", "speed": 1.0})
        config = config.with_tables(**dict.fromkeys((*ACTING, "recorders")), viewers={"page": page})
        self._file = tempfile.NamedTemporaryFile(prefix="pippin-robot-page-")  # noqa: SIM115
        self._file.truncate(8 * (_HEAD + 3 * count))
        self._memory = _PageMemory(Path(self._file.name), count)
        self._process = WorkerProcess("the page", _serve, config, self._file.name, count, has_button)
        try:
            #: Its address.
            self.url: str = self._process.receive(_START)
            current_progress().note(f"page: {self.url}")
        except BaseException:
            self.close()
            raise

    def refuse_stop(self) -> None:
        """Do nothing while it is there, and its button is not pressed.

        Raises:
            RobotFault: The robot shall stop.
        """
        head = self._memory.head
        if head[_STOPPED]:
            raise RobotFault("emergency stop", "stop")
        if head[_ALIVE] and time.monotonic() - head[_ALIVE] > _SILENT:
            raise RobotFault("the page is gone, and its button with it", "stop")

    def show(self, position: np.ndarray) -> None:
        """Show the robot with these positions [rad or m], shape [joints]."""
        self._memory.measured[:] = position

    def set_sliders(self, position: np.ndarray) -> None:
        """Let the sliders begin at these positions [rad or m], shape [joints]."""
        self._memory.measured[:] = self._memory.wanted[:] = position
        self._memory.head[_WANTED] += 1.0

    def targets(self) -> np.ndarray:
        """Return where the sliders are [rad or m], shape [joints]."""
        memory = self._memory
        return (memory.targets if memory.head[_DONE] == memory.head[_WANTED] else memory.wanted).copy()

    def close(self) -> None:
        """End it; a second call does nothing."""
        self._process.close()
        self._file.close()


class PageSource(TargetSource):
    """The sliders of a page.

    Args:
        page: The page.
    """

    def __init__(self, page: RobotPage) -> None:
        self._page = page

    def first(self, readings: RobotReadings) -> np.ndarray:
        """Set the sliders to where the robot is, and return that."""
        self._page.set_sliders(readings.position)
        return readings.position.copy()

    def targets(self, readings: RobotReadings, period: int) -> np.ndarray:
        """Return where the sliders are."""
        return self._page.targets()


class PageHand:
    """A person at the sliders of a page, who holds the joints without torque.

    Args:
        page: The page.
    """

    has_swept = False

    def __init__(self, page: RobotPage) -> None:
        self._page, self._is_held = page, np.zeros(0, dtype=bool)

    def positions(self, readings: RobotReadings, time: float, enabled: np.ndarray, homings: int | None) -> np.ndarray:
        """Return where the joints without torque are held, as of `Hand`; a joint is held where it loses its torque."""
        self._page.refuse_stop()
        self._page.show(readings.position)
        if not np.array_equal(self._is_held, ~enabled):
            freed = ~enabled & ~self._is_held if len(self._is_held) else ~enabled
            self._page.set_sliders(np.where(freed, readings.position, self._page.targets()))
            self._is_held = ~enabled
        return np.where(enabled, np.nan, self._page.targets())

    def close(self) -> None:
        """End the page."""
        self._page.close()


class _PageMemory:
    """Numbers of 8 bytes that both processes see; at a time, one of them writes each."""

    def __init__(self, file: Path, count: int) -> None:
        with file.open("r+b") as opened:
            numbers = np.frombuffer(mmap.mmap(opened.fileno(), 8 * (_HEAD + 3 * count)), dtype=np.float64)
        self.head, rows = numbers[:_HEAD], numbers[_HEAD:].reshape(3, count)
        self.measured, self.wanted, self.targets = rows


def _serve(connection: Any, config: SimulationConfig, file: str, count: int, has_button: bool) -> None:
    """Show the robot until this process is ended."""
    memory = _PageMemory(Path(file), count)
    with Simulation(config) as simulation:
        plan, viewer = RobotPlan.of(simulation, config.tables["robot"].config), simulation.component("viewers:page")
        if has_button:
            viewer.add_button("Stop the robot", lambda: memory.head.__setitem__(_STOPPED, 1.0), color="red")
        simulation.step(3)
        connection.send(viewer.url)
        threading.Thread(target=_live, args=(memory,), daemon=True).start()
        while True:
            _follow(simulation, plan, memory)


def _live(memory: _PageMemory) -> None:
    """Give signs of life, also while the page pauses."""
    while True:
        memory.head[_ALIVE] = time.monotonic()
        time.sleep(0.02)


def _follow(simulation: Simulation, plan: RobotPlan, memory: _PageMemory) -> None:
    """Put the robot where it is measured, and take a step, in which the page is shown and the sliders move."""
    plan.place(simulation, memory.measured, np.zeros(len(memory.measured)))
    wanted, resets = memory.head[_WANTED], on_host(simulation.reset_counts)[0]
    if wanted != memory.head[_DONE]:
        memory.targets[:] = memory.wanted
        _write(simulation, plan, memory.targets)
        memory.head[_DONE] = wanted  # from now on, the sliders count
    simulation.step()
    if on_host(simulation.reset_counts)[0] != resets:  # the page's button: a robot does not go to its start by it
        _write(simulation, plan, memory.measured)
    else:
        for label, (rows, columns) in plan.groups.items():
            memory.targets[rows] = on_host(simulation.actuators[label].position_targets)[0][columns]


def _write(simulation: Simulation, plan: RobotPlan, position: np.ndarray) -> None:
    for label, (rows, columns) in plan.groups.items():
        targets = simulation.actuators[label].position_targets
        whole = on_host(targets).copy()
        whole[0, columns] = position[rows]
        targets.assign(whole)
