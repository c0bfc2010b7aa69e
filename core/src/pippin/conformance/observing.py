"""Observation of a simulation: copies of its visible arrays, and the targets and forces that make it move."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from pippin.components.bound import Bound
from pippin.errors import CaptureWarning

if TYPE_CHECKING:
    from pippin.simulation import Simulation

__all__ = ["HALF", "Seen", "advance", "differing", "model_and_state", "push", "see", "start", "step"]

HALF = 3
"""Control steps of each half of a run; runs are compared after each half. An odd number."""


@attrs.frozen(eq=False)
class Seen:
    """Copies of a simulation's visible arrays: the state, the efforts of actuators and the outputs of sensors."""

    arrays: Mapping[str, np.ndarray]
    worlds: Mapping[str, np.ndarray | None]
    """The world of each row of an array; None if the rows belong to no world."""

    def of(self, worlds: Sequence[int]) -> Seen:
        """Return the rows of some worlds, without the arrays whose rows belong to no world."""
        kept = {name: np.isin(rows, worlds) for name, rows in self.worlds.items() if rows is not None}
        return Seen({name: self.arrays[name][mask] for name, mask in kept.items()}, dict.fromkeys(kept))


def start(simulation: Simulation) -> None:
    """Give actuators a different target in each world."""
    for actuator in simulation.actuators.values():
        bound = Bound(actuator, "actuator")
        targets = bound.ctrl if bound.position_targets is None else bound.position_targets
        if targets is not None:
            rows = np.linspace(0.2, 0.5, targets.shape[0], dtype=np.float32)
            targets.assign(np.repeat(rows[:, None], targets.shape[1], axis=1))


def push(simulation: Simulation) -> None:
    """Push everything along x for one control step, in each world with a different acceleration."""
    model, state = model_and_state(simulation)
    if model.body_count:
        forces = np.zeros((model.body_count, 6), dtype=np.float32)
        forces[:, 0] = 0.5 * model.body_mass.numpy() * (model.body_world.numpy() + 1)
        state.body_f.assign(forces)
    if model.particle_count:
        forces = np.zeros((model.particle_count, 3), dtype=np.float32)
        forces[:, 0] = 0.5 * model.particle_mass.numpy() * (model.particle_world.numpy() + 1)
        state.particle_f.assign(forces)


def advance(simulation: Simulation, count: int = HALF) -> Seen:
    """Take some control steps with a push in each, and return copies of the visible arrays."""
    for _ in range(count):
        push(simulation)
        step(simulation, 1)
    return see(simulation)


def step(simulation: Simulation, count: int) -> None:
    """Take some control steps without capture warnings: one of the checks asks for the reasons."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptureWarning)
        simulation.step(count)


def see(simulation: Simulation) -> Seen:
    """Return copies of the visible arrays."""
    from pippin.state.world_rows import arrays_of, worlds_of

    known = set(arrays_of(simulation.model.state()))  # a solver may keep scratch memory in the state
    arrays, worlds = {}, {}
    for name, array in arrays_of(simulation.state).items():
        if name in known:
            arrays[name] = array.numpy().copy()
            worlds[name] = worlds_of(simulation.model, name)
    for name, array, own in _shown(simulation):
        arrays[name] = array.numpy().copy()
        worlds[name] = np.repeat(own, len(arrays[name]) // len(own))
    return Seen(arrays, worlds)


def _shown(simulation: Simulation) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield name and array of each effort and output of the components, with the worlds of its first axis."""
    every = np.arange(simulation.world_count)
    for actuator in (Bound(each, "actuator") for each in simulation.actuators.values()):
        efforts = {"computed_effort": actuator.computed_effort, "applied_effort": actuator.applied_effort}
        for name, array in efforts.items():
            if array is not None:
                yield name, array, every if actuator.worlds is None else actuator.worlds
    for sensor in (Bound(each, "sensor") for each in simulation.sensors.values()):
        for name, output in sensor.outputs.items():
            yield f"outputs[{name!r}]", output.data, every if sensor.worlds is None else sensor.worlds


def differing(left: Seen, right: Seen) -> list[str]:
    """Return the names of the arrays that differ in any bit."""
    names = dict.fromkeys([*left.arrays, *right.arrays])
    both = [name for name in names if name in left.arrays and name in right.arrays]
    odd = [name for name in both if left.arrays[name].tobytes() != right.arrays[name].tobytes()]
    return odd + [name for name in names if name not in both]


def model_and_state(simulation: Simulation) -> tuple[Any, Any]:
    """Return model and state, typed as Any: an array may be used if the model's count of its elements is not 0."""
    return simulation.model, simulation.state
