"""Observation of a simulation: copies of its visible arrays, and the targets and forces that make it move."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from pippin import CaptureWarning, Simulation
from pippin.actuation import DriveActuator
from pippin.sensing import Sensor
from pippin.state import arrays_of, worlds_of

HALF = 3
"""Control steps of each half of a run; runs are compared after each half. An odd number."""


@attrs.frozen(eq=False)
class StateSnapshot:
    """Copies of a simulation's visible arrays: the state, efforts, outputs of sensors, and numbers of a task."""

    arrays: Mapping[str, np.ndarray]
    worlds: Mapping[str, np.ndarray | None]
    """The world of each row of an array; None if the rows belong to no world."""

    def of(self, worlds: Sequence[int]) -> StateSnapshot:
        """Return the rows of some worlds, without the arrays whose rows belong to no world."""
        kept = {name: np.isin(rows, worlds) for name, rows in self.worlds.items() if rows is not None}
        return StateSnapshot({name: self.arrays[name][mask] for name, mask in kept.items()}, dict.fromkeys(kept))


def start(simulation: Simulation) -> None:
    """Give actuators a different target in each world, and a task a different action."""
    for actuator in _parts(simulation, simulation.actuators, DriveActuator):
        targets = given(actuator, "position_targets", given(actuator, "ctrl"))
        if targets is not None:
            _assign_rows(targets)
    task = simulation.component("task")  # the table is that of a package that may not be there
    if task is not None:
        _assign_rows(task.episodes.action)


def _assign_rows(numbers: Any) -> None:
    rows = np.linspace(0.2, 0.5, numbers.shape[0], dtype=np.float32)
    numbers.assign(np.repeat(rows[:, None], numbers.shape[1], axis=1))


def begin_anew(simulation: Simulation, worlds: Sequence[int] | None = None) -> None:
    """Reset worlds with the seed of the simulation, so that their random draws are the first ones again."""
    mask = np.isin(np.arange(simulation.world_count), range(simulation.world_count) if worlds is None else worlds)
    seeds = np.full(simulation.world_count, simulation.config.simulation.seed)
    simulation.seeds.reseed(seeds, mask)
    simulation.reset(worlds)
    start(simulation)


def push(simulation: Simulation, more: Sequence[int] = ()) -> None:
    """Push everything along x for one control step, in each world with a different acceleration.

    Some worlds get more, upwards.
    """
    model, state = model_and_state(simulation)
    if model.body_count:
        forces = np.zeros((model.body_count, 6), dtype=np.float32)
        forces[:, 0] = 0.5 * model.body_mass.numpy() * (model.body_world.numpy() + 1)
        forces[np.isin(model.body_world.numpy(), more), 2] = 5.0
        state.body_f.assign(forces)
    if model.particle_count:
        forces = np.zeros((model.particle_count, 3), dtype=np.float32)
        forces[:, 0] = 0.5 * model.particle_mass.numpy() * (model.particle_world.numpy() + 1)
        forces[np.isin(model.particle_world.numpy(), more), 2] = 5.0 * model.particle_mass.numpy()[0]
        state.particle_f.assign(forces)


def spoil(simulation: Simulation, world: int) -> None:
    """Let the velocities of a world be not finite."""
    model, state = model_and_state(simulation)
    parts: dict[Any, str] = {"joints": "joint_qd", "bodies": "body_qd", "particles": "particle_qd"}
    if model.joint_count:
        del parts["bodies"]  # they follow
    for what, name in parts.items():
        if getattr(state, name) is not None and (rows := worlds_of(model, name)) is not None and len(rows):
            values = getattr(state, name).numpy().copy()
            values[rows == world] = np.nan
            getattr(state, name).assign(values)
            simulation.invalidate(what, [world])


def advance(simulation: Simulation, count: int = HALF) -> StateSnapshot:
    """Take some control steps with a push in each, and return copies of the visible arrays."""
    for _ in range(count):
        push(simulation)
        step(simulation, 1)
    return see(simulation)


def step(simulation: Simulation, count: int) -> None:
    """Take some control steps without capture warnings: one of the checks asks for the reasons."""
    with warnings.catch_warnings(action="ignore", category=CaptureWarning):
        simulation.step(count)


def see(simulation: Simulation) -> StateSnapshot:
    """Return copies of the visible arrays."""
    known = set(arrays_of(simulation.model.state()))  # a solver may keep scratch memory in the state
    arrays, worlds = {}, {}
    for name, array in arrays_of(simulation.state).items():
        if name in known:
            arrays[name] = array.numpy().copy()
            worlds[name] = worlds_of(simulation.model, name)
    for name, numbers, own in _shown(simulation):
        arrays[name] = numbers.copy()
        worlds[name] = np.repeat(own, len(numbers) // len(own))
    return StateSnapshot(arrays, worlds)


def _shown(simulation: Simulation) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    every = np.arange(simulation.world_count)
    for actuator in _parts(simulation, simulation.actuators, DriveActuator):
        for name in ("computed_effort", "applied_effort"):
            if (array := given(actuator, name)) is not None:
                yield name, array.numpy(), given(actuator, "worlds", every)
    for sensor in _parts(simulation, simulation.sensors, Sensor):
        for name, output in given(sensor, "outputs", {}).items():
            yield f"outputs[{name!r}]", output.data.numpy(), given(sensor, "worlds", every)
    task = simulation.component("task")
    if task is not None:
        yield from ((name, numbers, every) for name, numbers in _of_task(task))


def _parts(simulation: Simulation, labelled: Mapping[str, Any], carrier: type) -> Iterator[Any]:
    carriers = [each for each in simulation.plugins.values() if isinstance(each, carrier)]
    yield from (*labelled.values(), *carriers)


def given(component: Any, attribute: str, default: Any = None) -> Any:
    """Return an attribute that components may have; the default if one has it not, or None there."""
    value = getattr(component, attribute, None)
    return default if value is None else value


def _of_task(task: Any) -> Iterator[tuple[str, np.ndarray]]:
    episodes = task.episodes
    tables = {"rewards": episodes.reward_terms, "terminations": episodes.termination_terms}
    for name, rows in {**tables, "metrics": episodes.metric_terms}.items():
        if len(rows):
            yield name, rows.numpy().T
    for name, group in task.observations.items():
        yield f"observations[{name!r}]", group.values.numpy()
    for name, command in task.commands.items():
        yield f"commands[{name!r}]", command.value.numpy()
    for name, curriculum in task.curricula.items():
        yield f"curricula[{name!r}]", curriculum.value.numpy()


def differing(left: StateSnapshot, right: StateSnapshot, rounding: float = 0.0) -> list[str]:
    """Return the names of the arrays that differ in any bit, or by more than what rounding may make of them."""
    names = dict.fromkeys([*left.arrays, *right.arrays])
    both = [name for name in names if name in left.arrays and name in right.arrays]
    pairs = {name: (left.arrays[name], right.arrays[name]) for name in both}
    odd = [
        name
        for name, (first, second) in pairs.items()
        if first.tobytes() != second.tobytes()
        and not (rounding and np.allclose(first, second, rtol=rounding, atol=rounding, equal_nan=True))
    ]
    return odd + [name for name in names if name not in both]


def model_and_state(simulation: Simulation) -> tuple[Any, Any]:
    """Return model and state, typed as Any: an array may be used if the model's count of its elements is not 0."""
    return simulation.model, simulation.state
