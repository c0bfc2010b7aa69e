"""Handles of goals on a page: arrows and rings at the goal of each tool, which a user drags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from pippin import Host
from pippin.arrays import on_host
from pippin.controllers import Tools
from pippin.labels import name_of

from .panel import Panel

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
        self._handles: list[_Handle] = []
        #: Whether the handles are drawn.
        self.is_shown = True
        owners = {**Tools.owners(simulation), **(requested or {})}
        if not owners:
            return
        size = max(_SIZE * panel.page.radius_of(simulation, [panel.controls.worlds[0]]), _SIZE_MIN)
        for label, owner in owners.items():
            for tool, name in enumerate(owner.tool_labels):
                path = f"/goals/{label}/{tool}_{name_of(name)}"
                self._handles.append(_Handle(panel, owner, tool, path, size))
                self._handles[-1].name = f"{label}/{name_of(name)}"
        with panel.page.server.gui.add_folder("Goals", order=2.5):
            switch = panel.page.server.gui.add_checkbox(
                "Handles", initial_value=True, hint="Drag arrows and rings to move the goals of the chosen world"
            )
            switch.on_update(panel.user_input.queued(partial(setattr, self, "is_shown")))

    @property
    def names(self) -> list[str]:
        """A name for each handle."""
        return [handle.name for handle in self._handles]

    def move(self, index: int, moved: Callable[[np.ndarray], np.ndarray]) -> bool:
        """Change the goal of a handle in the first chosen world; tell whether this world has one.

        Args:
            index: The handle, as in `names`.
            moved: Returns the new goal for the present one, position [m] and quaternion x y z w.
        """
        return self._handles[index].move(moved)

    def follow(self) -> None:
        """Put the handles where the goals are."""
        for handle in self._handles:
            handle.follow(self.is_shown)


class _Handle:
    """The handle of one tool."""

    name: str

    def __init__(self, panel: Panel, owner: Any, tool: int, path: str, size: float) -> None:
        self._panel, self._owner, self._tool = panel, owner, tool
        self._row_of_world = {world: row for row, world in enumerate(owner.worlds.tolist())}
        self._shown: np.ndarray = np.zeros(7)
        self._world = -1
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
        """Change the goal of the first chosen world; see `GoalHandles.move`."""
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
        """Write the goal of the world that the handle belongs to."""
        row = self._row_of_world[self._world]
        place = place - self._panel.page.offsets_of([self._world])[0]
        goal = np.array([*place, *turn[1:], turn[0]], dtype=np.float32)
        goals = self._owner.goals[row]
        values = on_host(goals).copy()
        values[self._tool] = self._shown = goal
        goals.assign(values)
        self._panel.user_input.changes["goal"] += phase == "start"
