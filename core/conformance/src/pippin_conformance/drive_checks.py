"""Checks of what drives joints: the effort that an actuator applies, and the goals and targets of a controller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pippin
from pippin import Simulation
from pippin.arrays import present
from pippin.state import arrays_of

from .kinds import LABEL
from .observation import advance, differing, start
from .outcomes import NotApplicableError
from .runs import Runs

_BESIDE = 0.25
"""Effort that a user adds to every joint [N, N·m]."""

_SHIFT = 0.02
"""Distance by which a goal is moved [m]."""

_NEAR = 1e-4
"""Distance within which a goal is where its tool is [m]."""


def check_efforts(runs: Runs) -> None:
    """The driven joints move differently than with the actuator switched off."""
    with runs.subject.build(capture="off") as simulation:
        simulation.set_enabled(simulation.actuators[LABEL], False)
        start(simulation)
        idle = advance(simulation)
    if "joint_q" not in differing(runs.eager, idle):
        raise runs.fault(
            "the joints move as they do without it; add effort to control.joint_f, or test it with gains and targets"
            " that ask for some"
        )


def check_driven_joints(runs: Runs) -> None:
    """`actuated_dofs` lists the driven DOFs, and the efforts of users on all other DOFs stay unchanged."""
    dofs, efforts = _efforts(runs, {})
    count = len(efforts)
    if not dofs.size or len(set(dofs.tolist())) < dofs.size or dofs.min() < 0 or dofs.max() >= count:
        raise runs.fault(f"actuated_dofs is {dofs.tolist()}; list each driven DOF once, of {count}")
    others = np.setdiff1d(np.arange(count), dofs)
    odd = others[efforts[others] != np.float32(_BESIDE)]
    if odd.size:
        raise runs.fault(
            f"changes control.joint_f of the DOFs {odd.tolist()}, which actuated_dofs does not list; list what it"
            " drives, and leave the rest alone"
        )


def check_addition(runs: Runs) -> None:
    """The actuator adds its effort to the efforts of others in `control.joint_f`, and overwrites none of them."""
    dofs, alone = _efforts(runs, {})
    _, beside = _efforts(runs, {"other": _Other()})
    tolerance = 1e-4 * np.abs(alone[dofs]).max(initial=1.0)
    if not np.allclose((beside - alone)[dofs], _BESIDE, rtol=0.0, atol=tolerance):
        raise runs.fault("overwrites effort that others added to control.joint_f; add to it in place of assigning")


def check_open_loop(runs: Runs) -> None:
    """If the actuator declares `is_open_loop`: the solver's inputs are the same in all physics steps of a control step,
    while the state changes.
    """
    if not runs.whole.is_open_loop:
        raise NotApplicableError("it does not declare it")
    inputs = _Inputs()
    with runs.subject.build(capture="off", plugins={"inputs": inputs}) as simulation:
        start(simulation)
        advance(simulation)
    if inputs.changed:
        raise runs.fault(
            f"declares is_open_loop, but changes control.{', control.'.join(sorted(inputs.changed))} between the"
            " physics steps of a control step; compute it from targets and parameters alone, or leave is_open_loop out"
        )


def _efforts(runs: Runs, plugins: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the driven DOFs, and the efforts of all DOFs after a physics step; a user wrote some before the step."""
    with runs.subject.build(count=1, capture="off", plugins=plugins) as simulation:
        start(simulation)
        joint_f = present(simulation.control.joint_f)
        joint_f.fill_(_BESIDE)
        simulation.step()
        return simulation.actuators[LABEL].actuated_dofs.numpy(), joint_f.numpy().copy()


class _Other:
    """Adds effort to every joint before the actuators."""

    is_capturable = False

    @pippin.hookimpl(wrapper=True)
    def apply_actuators(self, control: Any) -> Iterator[None]:
        """Add on the host."""
        control.joint_f.assign(control.joint_f.numpy() + np.float32(_BESIDE))
        return (yield)


class _Inputs:
    is_capturable = False

    def __init__(self) -> None:
        #: Names of the inputs that changed within a control step.
        self.changed: set[str] = set()

    @pippin.hookimpl
    def start_step(self) -> None:
        """Forget the last control step."""
        self._before: dict[str, bytes] = {}

    @pippin.hookimpl
    def before_substep(self, control: Any) -> None:
        """Compare the inputs with those of the substep before it."""
        found = {name: array.numpy().tobytes() for name, array in arrays_of(control).items()}
        self.changed |= {name for name, data in self._before.items() if data != found[name]}
        self._before = found


def check_goals(runs: Runs) -> None:
    """After a reset, the goal of each tool is where the tool is, and its targets are finite after a step."""
    with runs.subject.build(capture="off") as simulation:
        start(simulation)
        advance(simulation)
        simulation.reset()
        controller = _controller(simulation)
        distance = np.abs(controller.goals.numpy() - controller.poses().numpy())[..., :3].max()
        if distance > _NEAR:
            raise runs.fault(f"after a reset, a goal is {distance:.3g} m from its tool; call super().reset_worlds")
        simulation.step()
        if not np.isfinite(controller.positions.numpy()).all():
            raise runs.fault("commanded positions are not finite; write all of them in `compute`")


def check_targets(runs: Runs) -> None:
    """A goal that is moved in the last world changes targets of its group there, and nowhere else."""
    still, moved = (_targets(runs, shift) for shift in (0.0, _SHIFT))
    changed = np.flatnonzero((still != moved).any(axis=1)).tolist()
    if changed != [len(still) - 1]:
        where = f"the targets of worlds {changed} changed" if changed else "no target changed"
        raise runs.fault(
            f"the goal was moved in the last of {len(still)} worlds, but {where}; compute the positions of each world"
            " from its own goals"
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


def check_rates(runs: Runs) -> None:
    """The rates of a motion are the derivatives of its values, at most of the times at which they change."""
    width, times = 1e-3, np.linspace(0.0503, 2.0503, 98)
    with runs.subject.build(capture="off") as simulation:
        motion: Any = simulation.motions[LABEL]
        found = [[_at(motion, time) for time in times + ahead] for ahead in (-width, 0.0, width)]
    before, values, after = (np.array([value for value, _ in each]) for each in found)
    rates = np.array([rate for _, rate in found[1]])
    if values.shape[-1] == 7:  # poses: their rates are velocities, so that only those of positions are derivatives
        before, values, rates, after = (each[..., :3] for each in (before, values, rates, after))
    sides = np.stack([values - before, after - values]) / width  # a jump or a bend is on one of them
    slopes = np.where(np.abs(sides[0] - rates) < np.abs(sides[1] - rates), sides[0], sides[1])
    largest, noise = max(np.abs(slopes).max(), np.abs(rates).max()), 1e-6 * np.abs(values).max(initial=1.0) / width
    changes = np.maximum(np.abs(slopes), np.abs(rates)) > 0.05 * largest + noise
    wrong = changes & (np.abs(slopes - rates) > 0.2 * largest + noise)
    if 2 * np.count_nonzero(wrong) > np.count_nonzero(changes):
        at = tuple(np.argwhere(wrong)[0])
        text = f"rates is {rates[at]:.4g} where values change by {slopes[at]:.4g} per second"
        raise runs.fault(f"at {times[at[0]]:.3g} s, {text}; write the derivative of values")


def _at(motion: Any, time: float) -> tuple[np.ndarray, np.ndarray]:
    motion.times.fill_(time)
    motion.evaluate()
    return motion.values.numpy().copy(), motion.rates.numpy().copy()
