"""Findings about a solver: its numbers on benches, each beside its control in one simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import newton
import numpy as np
from pippin import Simulation

from .benches import BENCHES, DURATION, Rows
from .kinds import merged
from .observation import model_and_state, step
from .plugin_under_test import PluginUnderTest


@attrs.frozen
class Finding:
    """Numbers of a solver on a bench."""

    number: float
    """The measured number of the mechanism."""

    control: float
    """That of its control."""


def measured_features(subject: PluginUnderTest) -> dict[str, Finding | Exception]:
    """Return what a solver gives on each bench of a feature that it declares, or the exception raised."""
    declared = subject.features or ()
    return measured(subject, [name for name in BENCHES if name.partition(" ")[0] in declared])


def measured(subject: PluginUnderTest, names: Sequence[str]) -> dict[str, Finding | Exception]:
    """Return what a solver gives on the benches, or the exception raised.

    All benches with the same keys of `[collision]` stand side by side in one simulation, with their controls. If this
    fails, they are split into two simulations, and so on.
    """
    alike = [[name for name in names if BENCHES[name].collision == each] for each in collisions_of(names)]
    return {name: found for group in alike for name, found in _measured_beside(subject, group).items()}


def collisions_of(names: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the distinct keys of `[collision]` of some benches: each needs a simulation of its own."""
    found: list[Mapping[str, Any]] = []
    for name in names:
        if BENCHES[name].collision not in found:
            found.append(BENCHES[name].collision)
    return found


def _measured_beside(subject: PluginUnderTest, names: Sequence[str]) -> dict[str, Finding | Exception]:
    particles: dict[str, slice] = {}

    def scene(builder: newton.ModelBuilder) -> None:
        adders = {name: BENCHES[name].add for name in names} | {_control(name): BENCHES[name].control for name in names}
        for index, (label, add) in enumerate(adders.items()):
            first = builder.particle_count
            add(builder, label, 1.0 * (index + 1))
            particles[label] = slice(first, builder.particle_count)

    tables = merged(subject.tables, {"collision": BENCHES[names[0]].collision})
    try:
        with attrs.evolve(subject, tables=tables).build(count=1, scene=scene, world_count=1) as simulation:
            before = _rows(simulation, particles)
            step(simulation, round(DURATION / subject.dt))
            after = _rows(simulation, particles)
    except Exception as error:  # a plugin may raise anything
        if len(names) == 1:
            return {names[0]: error}
        middle = len(names) // 2
        return _measured_beside(subject, names[:middle]) | _measured_beside(subject, names[middle:])
    return {
        name: Finding(*(BENCHES[name].measure(before[label], after[label]) for label in (name, _control(name))))
        for name in names
    }


def _control(name: str) -> str:
    return f"{name} without"


def measured_apart(subject: PluginUnderTest, names: Sequence[str]) -> dict[str, float]:
    """Return the number that a solver gives on each bench of bodies, each in a world of its own."""
    scenes = [(lambda builder, name=name: BENCHES[name].add(builder, name, 0.0), 1) for name in names]
    particles = dict.fromkeys(names, slice(0))
    with subject.build(count=1, scene=scenes) as simulation:
        before = _rows(simulation, particles)
        step(simulation, round(DURATION / subject.dt))
        after = _rows(simulation, particles)
    return {name: BENCHES[name].measure(before[name], after[name]) for name in names}


def _rows(simulation: Simulation, particles: Mapping[str, slice]) -> dict[str, Rows]:
    """Return copies of poses and velocities of the bodies and the particles of each bench."""
    model, state = model_and_state(simulation)
    owners = np.array([label.partition("/")[0] for label in model.body_label])
    poses, velocities = _on_host(state.body_q, 7), _on_host(state.body_qd, 6)
    places, speeds = _on_host(state.particle_q, 3), _on_host(state.particle_qd, 3)
    return {
        name: (
            np.vstack([poses[owners == name], np.pad(places[own], ((0, 0), (0, 4)))]),
            np.vstack([velocities[owners == name], np.pad(speeds[own], ((0, 0), (0, 3)))]),
        )
        for name, own in particles.items()
    }


def _on_host(array: Any, width: int) -> np.ndarray:
    return np.zeros((0, width)) if array is None else array.numpy()
