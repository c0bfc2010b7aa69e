"""Sliders of a page: position targets of actuators, and the commands of a task beside its rewards and its policy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from pippin import Host
from pippin.arrays import on_host
from pippin.labels import match, name_of
from pippin.recording.channels import Channel, channels
from pippin.report import Markdown, markdown

from .page import TextBox
from .panel import Panel

_EXPANDED_MAX = 12
"""Number of sliders up to which a folder is open at first."""

_LIMIT_MAX = 1000.0
"""Limit of a joint from which it counts as none [m, rad]."""

_DIGITS = 3
"""Decimal places of a slider."""


class Sliders:
    """One slider for each number of a world, of `values` of shape [len(worlds), width], in the panel's chosen worlds.

    The ranges grow with the values; `change` is what notes call a write of a user.
    """

    def __init__(
        self,
        values: Any,
        worlds: Sequence[int],
        names: Sequence[str],
        ranges: Sequence[tuple[float, float]],
        panel: Panel,
        change: str,
    ) -> None:
        self._values, self._panel, self._change = values, panel, change
        #: Function to call after each write.
        self.after_write: Callable[[], None] | None = None
        self._row_of_world = {world: row for row, world in enumerate(worlds)}
        self._shown = self._read(0)
        gui = panel.page.server.gui
        self._sliders = [self._add(gui, column, names[column], *ranges[column]) for column in range(len(names))]

    def write(self, column: int, value: float) -> None:
        """Write one number of the chosen worlds."""
        self._panel.user_input.changes[self._change] += 1
        self._shown[column] = value
        for row in self._rows():
            self._values[row, column : column + 1].fill_(value)
        if self.after_write is not None:
            self.after_write()

    def follow(self) -> None:
        """Show the numbers of the first of the chosen worlds: a program may have written others."""
        rows = self._rows()
        if not rows:
            return
        for column, value in enumerate(self._read(rows[0])):
            if value != self._shown[column] and math.isfinite(value):
                self._shown[column] = value
                slider = self._sliders[column]
                slider.min, slider.max = min(slider.min, _down(value)), max(slider.max, _up(value))
                slider.value = round(float(value), _DIGITS)

    def _rows(self) -> list[int]:
        return [self._row_of_world[world] for world in self._panel.controls.worlds if world in self._row_of_world]

    def _read(self, row: int) -> np.ndarray:
        return on_host(self._values[row]).copy()

    def _add(self, gui: Any, column: int, name: str, lower: float, upper: float) -> Any:
        value = float(self._shown[column]) if math.isfinite(self._shown[column]) else 0.0
        lower, upper = min(_down(lower), _down(value)), max(_up(upper), _up(value))
        slider = gui.add_slider(name, min=lower, max=upper, step=10.0**-_DIGITS, initial_value=round(value, _DIGITS))
        slider.on_update(self._panel.user_input.queued(lambda value: self.write(column, value)))
        return slider


def add_sliders(patterns: Sequence[str] | None, simulation: Host, panel: Panel, where: str) -> list[Sliders]:
    """Add the sliders of the actuators whose labels match one of the patterns, and that have position targets.

    Raises:
        ConfigError: A pattern matches no actuator with position targets.
    """
    actuators = simulation.actuators
    offered = [label for label, actuator in actuators.items() if _has_position_targets(actuator)]
    chosen = range(len(offered))
    if patterns is not None:
        chosen = match(patterns, offered, "actuator", where)
    return [_targets(offered[index], actuators[offered[index]], simulation, panel) for index in chosen]


def _targets(label: str, actuator: Any, simulation: Host, panel: Panel) -> Sliders:
    own = getattr(actuator, "worlds", None)
    worlds = range(simulation.world_count) if own is None else own.tolist()
    names, ranges = _short(actuator.joint_labels), _ranges(simulation, actuator)
    is_expanded = len(names) <= _EXPANDED_MAX
    with panel.page.server.gui.add_folder(f"Targets: {label}", order=2.0, expand_by_default=is_expanded):
        return Sliders(actuator.position_targets, worlds, names, ranges, panel, "target")


def _has_position_targets(actuator: Any) -> bool:
    targets = getattr(actuator, "position_targets", None)
    return targets is not None and targets.shape[1:] == (len(getattr(actuator, "joint_labels", ())),)


def _ranges(simulation: Host, actuator: Any) -> list[tuple[float, float]]:
    """Return the limits of the driven joints [m or rad]; half a turn, or a metre, if a joint has none."""
    count, dofs = len(actuator.joint_labels), getattr(actuator, "actuated_dofs", None)
    if dofs is None or dofs.size < count:
        return [(-math.pi, math.pi)] * count
    model: Any = simulation.model
    starts, dimensions = on_host(model.joint_qd_start), on_host(model.joint_dof_dim)
    lower, upper = on_host(model.joint_limit_lower), on_host(model.joint_limit_upper)
    ranges = []
    for dof in on_host(dofs)[:count]:
        joint = np.searchsorted(starts, dof, side="right") - 1
        free = 1.0 if dof - starts[joint] < dimensions[joint][0] else math.pi
        low, high = float(lower[dof]), float(upper[dof])
        ranges.append((low if abs(low) < _LIMIT_MAX else -free, high if abs(high) < _LIMIT_MAX else free))
    return ranges


def _short(labels: Sequence[str]) -> list[str]:
    counts = Counter(map(name_of, labels))
    return [name_of(label) if counts[name_of(label)] == 1 else label for label in labels]


def _down(value: float) -> float:
    return math.floor(value * 10**_DIGITS) / 10**_DIGITS


def _up(value: float) -> float:
    return math.ceil(value * 10**_DIGITS) / 10**_DIGITS


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
            self._bars = TextBox(gui.add_html, order=9.0)
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
        self._bars.show(self._rewards())

    def _rewards(self) -> Markdown:
        found = {name: channel.numpy()[0].ravel() for name, channel in self._channels.items()}
        values = found.get("task/rewards", np.zeros(0))
        finite = np.abs(values[np.isfinite(values)])
        self._largest = max(0.98 * self._largest, float(finite.max(initial=0.0)))
        rows = []
        for label, value in zip(self._task.rewards, values, strict=False):
            bar, text = _bar(float(value), self._largest), f"{value + 0.0:.2g}"
            rows.append(markdown('<div>{}</div>{}<div style="text-align:right">{}</div>', label, bar, text))
        facts = f"Return {found['task/return'][0]:.4g} in {found['task/length'][0]:.0f} steps"
        table = markdown('<div style="{}">{}</div>', _GRID, markdown("{}" * len(rows), *rows))
        head = markdown('<div style="font-size:.85em">{}</div>', facts)
        return markdown('<div style="padding:0 .6em .6em">{}{}</div>', head, table)

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


def _bar(value: float, largest: float) -> Markdown:
    width = 50.0 * min(abs(value) / largest, 1.0) if largest and np.isfinite(value) else 0.0
    left, color = (50.0, _GOOD) if value >= 0.0 else (50.0 - width, _BAD)
    inner = f"position:absolute;left:{left:.1f}%;width:{width:.1f}%;height:100%;background:{color};border-radius:2px"
    return markdown('<div style="position:relative;height:.7em;background:#8883"><div style="{}"></div></div>', inner)
