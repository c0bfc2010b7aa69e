"""Demonstrations by a user of the page: goals that become actions, and buttons that keep or discard an episode."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin import Host
from pippin.arrays import on_host
from pippin.controllers import Tools
from pippin.quaternions import product
from pippin.report import markdown

from .page import TextBox
from .panel import Panel

_GUIDED = ("tool-goals", "gripper")
"""Types of actions that the page gives by handles and switches."""


class RequestedGoals:
    """The goals that a user requested for the tools of a controller, which its goals follow by actions."""

    def __init__(self, owner: Any, action: Any, columns: slice) -> None:
        self._owner, self._action, self._columns = owner, action, columns
        #: As of the controller.
        self.worlds, self.tool_labels = owner.worlds, owner.tool_labels
        #: The requested goals, of the shape of the controller's goals.
        self.goals: Any = wp.clone(owner.goals)

    def restart(self) -> None:
        """Request what is."""
        self.goals.assign(self._owner.goals)

    def write(self, actions: np.ndarray) -> None:
        """Write the numbers, within their bounds, that bring the goals nearest to them, shape [worlds, width]."""
        config, bounds = self._action.config, self._action.bounds
        references = on_host(self._action.references).reshape(*self._owner.goals.shape, 7)
        requested = on_host(self.goals).reshape(references.shape)
        parts = [(requested - references)[..., :3] / config.scale]
        if config.rotation_scale:
            parts.append(_turns(references[..., 3:], requested[..., 3:]) / config.rotation_scale)
        numbers = np.concatenate(parts, axis=-1).reshape(len(references), -1)
        actions[self.worlds, self._columns] = np.clip(numbers, *bounds)


@attrs.define(eq=False)
class _Switch:
    column: int
    box: Any
    is_open: bool = True


class Operator:
    """The folder of demonstrations on a page. The page pauses before an episode, and after it.

    Args:
        recorder: Label of the recorder of episodes, which keeps those that are asked for.
        wanted: Number of episodes to keep; None for any number.
    """

    def __init__(self, simulation: Host, panel: Panel, recorder: str, wanted: int | None) -> None:
        self._simulation, self._panel, self._label, self._wanted = simulation, panel, recorder, wanted
        self._task: Any = simulation.component("task")
        self._resets = -1
        self._began: float | None = None  # simulated time at which the recording began
        self._shown_seconds = -1
        #: The requested goals by label of the controller; the goals of the others are moved at once.
        self.requested: dict[str, RequestedGoals] = {}
        self._switches: list[_Switch] = []
        #: Number of episodes that were kept, and that were discarded.
        self.kept = self.discarded = 0
        owners = Tools.owners(simulation)
        gui, queued = panel.page.server.gui, panel.user_input.queued
        with gui.add_folder("Demonstrations", order=0.5):
            self._text = TextBox(gui.add_markdown)
            #: The buttons that end an episode: they act while there is one.
            self.decisions: list[Any] = []
            for name, call, color, hint in (
                ("Start", self.start, None, "Go back to the start, and record"),
                ("Keep", partial(self.decide, True), "green", "End the episode, and keep it"),
                ("Discard", partial(self.decide, False), "red", "End the episode, and forget it"),
            ):
                self.decisions.append(gui.add_button(name, color=color, hint=hint))
                self.decisions[-1].on_click(queued(lambda _, call=call: call()))
            del self.decisions[0]
            for name, action, columns in self._guided():
                if hasattr(action.config, "controller"):
                    label = action.config.controller
                    self.requested[label] = RequestedGoals(owners[label], action, columns)
                else:
                    box = gui.add_checkbox(f"Open {name}", initial_value=True)
                    self._switches.append(switch := _Switch(columns.start, box))
                    box.on_update(queued(partial(setattr, switch, "is_open")))
        self._tell("Press Start.")

    @property
    def is_complete(self) -> bool:
        """Whether all wanted episodes are kept."""
        return self._wanted is not None and self.kept >= self._wanted

    def act(self) -> bool:
        """Show the time of the recording, write the action of the next step, and tell whether there is one."""
        self._show_time()
        if not self.requested and not self._switches:
            return False
        resets = int(on_host(self._simulation.reset_counts)[self._panel.controls.worlds[0]])
        if resets != self._resets:
            self._resets = resets
            for requested in self.requested.values():
                requested.restart()
        array = self._task.episodes.action
        actions = on_host(array).copy()
        for requested in self.requested.values():
            requested.write(actions)
        for switch in self._switches:
            actions[:, switch.column] = 1.0 if switch.is_open else -1.0
        array.assign(actions)
        return True

    def start(self) -> None:
        """Begin an episode; what was recorded since the last one is forgotten."""
        self._recorder.decide(keep=False)
        self._panel.user_input.changes["reset"] += 1
        self._panel.shown.reset(None)
        self._began, self._shown_seconds = self._simulation.time, -1
        self._show_time()
        self._panel.controls.pause(False)

    def grip(self) -> None:
        """Open all grippers that are closed, and close the others."""
        for switch in self._switches:
            switch.is_open = switch.box.value = not switch.is_open

    def decide(self, keep: bool) -> None:
        """End the episode, keep or forget it, and pause at the start of the next one."""
        count = self._recorder.decide(keep=keep)
        if not count:
            self._tell("Nothing is recorded yet: press Start.")
            return
        self.kept, self.discarded = self.kept + keep * count, self.discarded + (not keep) * count
        self._panel.shown.reset(None)
        self._panel.controls.pause()
        self._tell("Press Start for another one.")

    @property
    def _recorder(self) -> Any:
        return self._simulation.recorders[self._label]  # known once all components are bound

    def _guided(self) -> Iterator[tuple[str, Any, slice]]:
        first = 0
        for name, action in ({} if self._task is None else self._task.actions).items():
            columns = slice(first, first + len(action.labels))
            first = columns.stop
            task = self._simulation.config.tables.get("task")
            if task is not None and task.actions[name].type in _GUIDED:
                yield name, action, columns

    def _show_time(self) -> None:
        """Show how long the recording is, each second of it."""
        if self._began is None:
            return
        seconds = int(self._simulation.time - self._began + 1e-6)
        if seconds != self._shown_seconds:
            self._shown_seconds = seconds
            self._tell(f"Recording: {seconds} s.", is_recording=True)

    def _tell(self, text: str, *, is_recording: bool = False) -> None:
        self._began = self._began if is_recording else None
        for button in self.decisions:
            button.disabled = not is_recording
        of = "" if self._wanted is None else f" of {self._wanted}"
        self._text.show(markdown("{}  \n**{}**{} kept, {} discarded", text, self.kept, of, self.discarded))


def _turns(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the rotations from one orientation to another as vectors in the world [rad], shape [..., 3]."""
    conjugate = start * np.array([-1.0, -1.0, -1.0, 1.0])
    turn = product(end, conjugate)
    turn = np.where(turn[..., 3:] < 0.0, -turn, turn)
    sine = np.linalg.norm(turn[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, turn[..., 3:])
    return turn[..., :3] * np.where(sine > 1e-9, angle / np.maximum(sine, 1e-9), 2.0)
