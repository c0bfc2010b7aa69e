"""Goals of tools on a page: handles that a user drags, and a pad of held keys and gamepads."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from pippin import Host
from pippin.arrays import on_host
from pippin.controllers import Tools
from pippin.labels import name_of
from pippin.quaternions import product
from pippin.report import markdown

from .operator import Operator
from .page import TextBox
from .panel import Panel
from .sliders import EpisodePanel

_SIZE, _SIZE_MIN = 0.15, 0.05
"""Size of a handle, in radii of the sphere around a world, and the smallest one [m]."""

_WXYZ = [6, 3, 4, 5]
"""The quaternion of a transform in the order of the browser."""


class GoalHandles:
    """Handles at the goals of the first chosen world. They follow what else writes the goals, such as a motion.

    `requested` stand for the controllers of their labels: what a user requested, and an action brings about.
    """

    def __init__(self, simulation: Host, panel: Panel, requested: Mapping[str, Any] | None = None) -> None:
        self._panel = panel
        #: A handle for each tool.
        self.handles: list[GoalHandle] = []
        #: Whether the handles are drawn.
        self.is_shown = True
        owners = {**Tools.owners(simulation), **(requested or {})}
        if not owners:
            return
        size = max(_SIZE * panel.page.radius_of(simulation, [panel.controls.worlds[0]]), _SIZE_MIN)
        for label, owner in owners.items():
            self.handles += [GoalHandle(panel, owner, label, tool, size) for tool in range(len(owner.tool_labels))]
        with panel.page.server.gui.add_folder("Goals", order=2.5):
            switch = panel.page.server.gui.add_checkbox(
                "Handles", initial_value=True, hint="Drag arrows and rings to move the goals of the chosen world"
            )
            switch.on_update(panel.user_input.queued(partial(setattr, self, "is_shown")))

    def follow(self) -> None:
        """Put the handles where the goals are."""
        for handle in self.handles:
            handle.follow(self.is_shown)


class GoalHandle:
    """The handle of one tool."""

    def __init__(self, panel: Panel, owner: Any, label: str, tool: int, size: float) -> None:
        self._panel, self._owner, self._tool = panel, owner, tool
        self._row_of_world = {world: row for row, world in enumerate(owner.worlds.tolist())}
        self._shown: np.ndarray = np.zeros(7)
        self._world, of_tool = -1, name_of(owner.tool_labels[tool])
        #: Its name for a user.
        self.name = f"{label}/{of_tool}"
        path = f"/goals/{label}/{tool}_{of_tool}"
        self.handle = panel.page.server.scene.add_transform_controls(path, scale=size, depth_test=False)
        self.handle.on_update(self._drag)
        self.follow(is_shown=True)

    def follow(self, is_shown: bool) -> None:
        """Put the handle where the goal is. A goal that the user has just written is left alone: it is dragged."""
        world = self._panel.controls.worlds[0]
        row = self._row_of_world.get(world)
        self.handle.visible = is_shown and row is not None
        if row is None:
            return
        goal = on_host(self._owner.goals[row])[self._tool]
        if world == self._world and np.abs(goal - self._shown).max() < 1e-6:
            return
        self._shown, self._world = goal.copy(), world
        self.handle.position = goal[:3] + self._panel.page.offsets_of([world])[0]
        self.handle.wxyz = goal[_WXYZ]

    def move(self, moved: Callable[[np.ndarray], np.ndarray]) -> bool:
        """Change the goal in the first chosen world; tell whether this world has one.

        `moved` returns the new goal for the present one, position [m] and quaternion x y z w.
        """
        row = self._row_of_world.get(self._panel.controls.worlds[0])
        if row is None:
            return False
        values = on_host(self._owner.goals[row]).copy()
        values[self._tool] = moved(values[self._tool])
        self._owner.goals[row].assign(values)
        return True

    async def _drag(self, event: Any) -> None:
        if event.client_id is not None:
            place, turn = np.array(event.target.position), np.array(event.target.wxyz)
            self._panel.user_input.put(partial(self._write, place, turn, event.phase))

    def _write(self, place: np.ndarray, turn: np.ndarray, phase: str) -> None:
        row = self._row_of_world[self._world]
        place = place - self._panel.page.offsets_of([self._world])[0]
        goal = np.array([*place, *turn[1:], turn[0]], dtype=np.float32)
        goals = self._owner.goals[row]
        values = on_host(goals).copy()
        values[self._tool] = self._shown = goal
        goals.assign(values)
        self._panel.user_input.changes["goal"] += phase == "start"


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
        names = [handle.name for handle in goals.handles]
        moved = names or ([] if episode is None else episode.velocities)
        if not moved:
            return
        panel.page.guard.on_pad = self.hear
        gui, page = panel.page.server.gui, panel.page.guard.path
        with gui.add_folder("Pad", order=2.6):
            link = markdown('<a href="{}/pad" target="_blank">Keys and gamepad</a>', page)
            text = markdown('<div style="padding:0 .6em .6em;font-size:.85em">{} for {}</div>', link, moved[0])
            TextBox(gui.add_html).show(text)
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
        if not self._goals.handles:
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

        return self._goals.handles[self._tool].move(moved)

    def _hold(self, numbers: np.ndarray) -> None:
        self._panel.user_input.changes["use of the pad"] += bool(numbers.any() and not self._numbers.any())
        self._numbers, self._heard = numbers, clock.monotonic()
