"""Sliders of a page: rows of numbers of worlds, such as position targets, written in place between steps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pippin import Host
from pippin.arrays import on_host
from pippin.labels import match, name_of

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
    """Return the names of the joints; the whole label of those that share their name."""
    counts = Counter(map(name_of, labels))
    return [name_of(label) if counts[name_of(label)] == 1 else label for label in labels]


def _down(value: float) -> float:
    return math.floor(value * 10**_DIGITS) / 10**_DIGITS


def _up(value: float) -> float:
    return math.ceil(value * 10**_DIGITS) / 10**_DIGITS
