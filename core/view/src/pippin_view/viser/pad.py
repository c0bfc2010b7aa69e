"""Held keys and gamepads: a page beside a page moves the goal of a tool, or gives a command, while they are held."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from pippin import Host
from pippin.quaternions import product

from .episode import EpisodePanel
from .goals import GoalHandles
from .operator import Operator
from .panel import Panel

_NUMBERS = ("x", "y", "z", "pitch", "yaw")
"""What the pad sends, each from -1 to 1: along and about the axes of the world."""

_SPEED, _TURN = 0.25, 1.0
"""Speed [m/s] and angular speed [rad/s] of a goal for a number of 1."""

_HELD = 0.3
"""Time after which a pad that is not heard of any more is let go [s]."""


class Pad:
    """The pad of a page. Its numbers act once in each control step, in the first chosen world, as long as it is held.

    It moves the goal of the first tool, or of the one that the page chooses; if there is none, it gives the commands
    of the task that are velocities.
    """

    def __init__(
        self,
        simulation: Host,
        panel: Panel,
        goals: GoalHandles,
        operator: Operator | None,
        episode: EpisodePanel | None,
    ) -> None:
        self._panel, self._goals, self._episode = panel, goals, episode
        self._control_dt = simulation.control_dt
        self._numbers, self._heard, self._is_driving = np.zeros(len(_NUMBERS)), -math.inf, False
        self._tool = 0
        self._buttons: Mapping[str, Callable[[], None]] = {"reset": partial(panel.controls.reset, None)}
        if operator is not None:
            decisions = {"keep": partial(operator.decide, True), "discard": partial(operator.decide, False)}
            self._buttons = {"reset": operator.start, "grip": operator.grip, **decisions}
        names = goals.names
        moved = names or ([] if episode is None else episode.velocities)
        if not moved:
            return
        panel.page.guard.on_pad = self.hear
        gui, link = panel.page.server.gui, f'<a href="{panel.page.guard.path}/pad" target="_blank">Keys and gamepad</a>'
        with gui.add_folder("Pad", order=2.6):
            gui.add_html(f'<div style="padding:0 .6em .6em;font-size:.85em">{link} for {moved[0]}</div>')
            if len(names) > 1:
                tool = gui.add_dropdown("Tool", tuple(names), initial_value=names[0])
                tool.on_update(panel.user_input.queued(lambda name: setattr(self, "_tool", names.index(name))))

    def hear(self, message: str) -> None:
        """Take a message of the pad, on a thread of the server: five numbers with commas, or the name of a button.

        Raises:
            ValueError: It is neither; the text tells what is known.
        """
        if message in self._buttons:
            self._panel.user_input.put(self._buttons[message])
            return
        try:
            numbers = np.array([float(each) for each in message.split(",")])
        except ValueError:
            raise ValueError(f"{message!r} is no button of: {', '.join(self._buttons)}") from None
        if len(numbers) != len(_NUMBERS) or not (np.abs(numbers) <= 1.0).all():
            raise ValueError(f"a pad has {len(_NUMBERS)} numbers from -1 to 1: {', '.join(_NUMBERS)}")
        self._panel.user_input.put(partial(self._hold, numbers))

    def act(self) -> bool:
        """Move the goal by what is held, or give the command, and tell whether there is a change."""
        if clock.monotonic() > self._heard + _HELD:
            self._numbers[:] = 0.0
        is_held = bool(self._numbers.any())
        if not is_held and not self._is_driving:
            return False
        self._is_driving = is_held
        if not self._goals.names:
            assert self._episode is not None
            self._episode.drive({"x": self._numbers[0], "y": self._numbers[1], "yaw": self._numbers[4]})
            return True
        x, y, z, pitch, yaw = self._numbers * self._control_dt
        turn = _TURN * np.array([0.0, pitch, yaw])
        angle = float(np.linalg.norm(turn))
        axis = turn * (0.5 if angle < 1e-9 else math.sin(angle / 2.0) / angle)
        quaternion = np.array([*axis, math.cos(angle / 2.0)])

        def moved(goal: np.ndarray) -> np.ndarray:
            turned = product(quaternion, goal[3:])
            return np.array([*(goal[:3] + _SPEED * np.array([x, y, z])), *(turned / np.linalg.norm(turned))])

        return self._goals.move(self._tool, moved)

    def _hold(self, numbers: np.ndarray) -> None:
        self._panel.user_input.changes["use of the pad"] += bool(numbers.any() and not self._numbers.any())
        self._numbers, self._heard = numbers, clock.monotonic()
