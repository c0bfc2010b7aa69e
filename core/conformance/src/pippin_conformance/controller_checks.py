"""Checks of controllers: where their goals are after a reset, and whose targets they write."""

from __future__ import annotations

from typing import Any

import numpy as np
from pippin import PluginError, Simulation

from .kinds import LABEL
from .observation import advance, start
from .runs import Runs

_SHIFT = 0.02
"""Distance by which a goal is moved [m]."""

_NEAR = 1e-4
"""Distance within which a goal is where its tool is [m]."""


def check_goals(runs: Runs) -> None:
    """After a reset, the goal of each tool is where the tool is, and its targets are finite after a step."""
    with runs.subject.build(capture="off") as simulation:
        start(simulation)
        advance(simulation)
        simulation.reset()
        controller = _controller(simulation)
        distance = np.abs(controller.goals.numpy() - controller.poses().numpy())[..., :3].max()
        if distance > _NEAR:
            raise PluginError(
                f"{runs.subject}: after a reset, a goal is {distance:.3g} m from its tool; call super().reset_worlds"
            )
        simulation.step()
        if not np.isfinite(controller.positions.numpy()).all():
            raise PluginError(f"{runs.subject}: commanded positions are not finite; write all of them in `compute`")


def check_targets(runs: Runs) -> None:
    """A goal that is moved in the last world changes targets of its group there, and nowhere else."""
    still, moved = (_targets(runs, shift) for shift in (0.0, _SHIFT))
    changed = np.flatnonzero((still != moved).any(axis=1)).tolist()
    if changed != [len(still) - 1]:
        where = f"the targets of worlds {changed} changed" if changed else "no target changed"
        raise PluginError(
            f"{runs.subject}: the goal was moved in the last of {len(still)} worlds, but {where}; compute the positions"
            " of each world from its own goals"
        )


def _targets(runs: Runs, shift: float) -> np.ndarray:
    """Return the position targets after a step with a goal of the last world that is shifted along each axis [m]."""
    with runs.subject.build(capture="off") as simulation:
        start(simulation)
        controller = _controller(simulation)
        goals = controller.goals.numpy().copy()
        goals[-1, :, :3] += shift
        controller.goals.assign(goals)
        simulation.step()
        return simulation.actuators[controller.config.actuator].position_targets.numpy().copy()


def _controller(simulation: Simulation) -> Any:
    return simulation.controllers[LABEL]
