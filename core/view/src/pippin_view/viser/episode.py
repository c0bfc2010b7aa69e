"""The task on a page: bars of its rewards, sliders of its commands, and a switch for its policy."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np
from pippin import Host
from pippin.arrays import on_host
from pippin.recording.channels import Channel, channels

from .panel import Panel
from .sliders import Sliders

_GOOD, _BAD = "#059669", "#e11d48"
"""Colours of the bars of rewards above and below zero."""

_VELOCITY = ("x", "y", "yaw")
"""Labels of a command that is a velocity."""

_GRID = (
    "display:grid;grid-template-columns:auto 1fr auto;gap:2px 8px;white-space:nowrap;align-items:center;font-size:.8em"
)
"""Style of the table of rewards."""


class EpisodePanel:
    """The folder of a task: what its last step earned in the chosen world, and what its episode earned so far."""

    def __init__(self, simulation: Host, panel: Panel) -> None:
        self._simulation, self._panel, self._task = simulation, panel, simulation.task
        self._world, self._channels = -1, dict[str, Channel]()
        self._largest = 0.0
        gui = panel.page.server.gui
        with gui.add_folder("Task", order=1.5):
            if self._task.policy_switch is not None:
                policy = gui.add_checkbox(
                    "Policy", initial_value=True, hint="Without it, the action of all worlds is 0"
                )
                policy.on_update(panel.user_input.queued(self._switch_policy))
            self._bars = gui.add_html("", order=9.0)
            self._commands = {label: self._sliders(label, each) for label, each in self._task.commands.items()}
            if self._commands:
                self._hold = gui.add_checkbox(
                    "Hold commands", initial_value=False, hint="Else the task draws them; a moved slider is held"
                )
                self._hold.on_update(panel.user_input.queued(self._hold_all))

    @property
    def velocities(self) -> list[str]:
        """Labels of the commands that are velocities."""
        return [label for label, each in self._task.commands.items() if tuple(each.labels) == _VELOCITY]

    def drive(self, parts: Mapping[str, float]) -> None:
        """Hold the commands that are velocities in the first chosen world.

        Args:
            parts: For each number by its label, the part of its range: from -1 for the lowest over 0 to 1.
        """
        for label in self.velocities:
            flag, kept = self._task.command_holds[label]
            command = self._task.commands[label]
            if not on_host(flag)[0]:
                kept.assign(command.value)
            values = []
            for name in command.labels:
                low, high = getattr(command.config, name, None) or (-1.0, 1.0)
                values.append(parts[name] * (high if parts[name] > 0.0 else -low))
            kept[self._panel.controls.worlds[0]].assign(np.array(values, dtype=np.float32))
            flag.fill_(True)
        self._hold.value = True

    def follow(self) -> None:
        """Show rewards and commands as they are now."""
        for sliders in self._commands.values():
            sliders.follow()
        world = self._panel.controls.worlds[0]
        if world != self._world:
            self._world, self._largest = world, 0.0
            series = ["task/return", "task/length", *(["task/rewards"] if self._task.rewards else [])]
            self._channels = {each.name: each for each in channels(self._simulation, (world,), series)}
        self._bars.content = self._rewards()

    def _rewards(self) -> str:
        found = {name: channel.numpy()[0].ravel() for name, channel in self._channels.items()}
        values = found.get("task/rewards", np.zeros(0))
        finite = np.abs(values[np.isfinite(values)])
        self._largest = max(0.98 * self._largest, float(finite.max(initial=0.0)))
        rows = "".join(
            f"<div>{html.escape(label)}</div>{_bar(float(value), self._largest)}"
            f'<div style="text-align:right">{value + 0.0:.2g}</div>'
            for label, value in zip(self._task.rewards, values, strict=False)
        )
        facts = f"Return {found['task/return'][0]:.4g} in {found['task/length'][0]:.0f} steps"
        table = f'<div style="{_GRID}">{rows}</div>'
        return f'<div style="padding:0 .6em .6em"><div style="font-size:.85em">{facts}</div>{table}</div>'

    def _sliders(self, label: str, command: Any) -> Sliders:
        names = [f"{label} {name}" for name in command.labels]
        ranges = [getattr(command.config, name, None) or (-1.0, 1.0) for name in command.labels]
        sliders = Sliders(command.value, range(self._simulation.world_count), names, ranges, self._panel, "command")
        sliders.after_write = self._hold_moved
        return sliders

    def _hold_moved(self) -> None:
        self._hold.value = True
        self._hold_all(True)

    def _hold_all(self, is_held: bool) -> None:
        for label, (flag, kept) in self._task.command_holds.items():
            kept.assign(self._task.commands[label].value)
            flag.fill_(is_held)

    def _switch_policy(self, is_on: bool) -> None:
        self._panel.user_input.changes["switch of the policy"] += 1
        self._task.policy_switch.fill_(is_on)


def _bar(value: float, largest: float) -> str:
    """Return a bar from the middle to the right, or to the left if the value is below zero."""
    width = 50.0 * min(abs(value) / largest, 1.0) if largest and np.isfinite(value) else 0.0
    left, color = (50.0, _GOOD) if value >= 0.0 else (50.0 - width, _BAD)
    inner = f"position:absolute;left:{left:.1f}%;width:{width:.1f}%;height:100%;background:{color};border-radius:2px"
    return f'<div style="position:relative;height:.7em;background:#8883"><div style="{inner}"></div></div>'
