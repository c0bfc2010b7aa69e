"""A run that every format records: two hinges and a ball on the ground, with a sensor and a drive, in four worlds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
import pippin
import pytest
from pippin_conformance import scenes

EVERYTHING = (".*", ".*/.*")
"""Patterns that match every channel."""

WORLDS = (0, 2, 3)
"""Worlds that are not evenly spaced."""


def robot() -> newton.ModelBuilder:
    """Return a pendulum of two links, and a ball that lies on the ground."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_chain(builder, [0.3, 0.0], length=0.5, armature=0.01)
    scenes.add_ball(builder, 0.1, mass=1.0, radius=0.1)
    return builder


def tables(recorders: dict[str, Any] | None = None, worlds: int = 4) -> dict[str, Any]:
    """Return the tables of a configuration."""
    return {
        "simulation": {"device": "cpu", "dt": 0.002, "accept_unsupported": ["armature"]},
        "scene": {"worlds": worlds, "ground": True, "spacing": [2.0, 2.0, 0.0]},
        "solver": {"type": "xpbd"},
        "actuators": {"hinges": {"type": "pd", "joints": ["hinge_.*"], "kp": 20.0}},
        "sensors": {"imu": {"type": "imu", "body": [".*"]}},
        "recorders": recorders or {},
    }


@pytest.fixture(scope="session")
def simulate() -> Callable[..., pippin.Simulation]:
    """Return a function that builds the simulation with some recorders, in a folder."""

    def build(folder: Path | None, recorders: dict[str, Any], worlds: int = 4) -> pippin.Simulation:
        return pippin.Simulation(pippin.structure(tables(recorders, worlds)), prototype=robot(), folder=folder)

    return build


@attrs.frozen(eq=False)
class Recorded:
    """A folder with a recording in every format, and the states that were recorded."""

    folder: Path
    joint_q: np.ndarray
    """Shape [rows, worlds, coordinates]."""
    times: list[float]


@pytest.fixture(scope="session")
def recorded(simulate: Any, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Thirty control steps of every channel in every format, with a reset of world 2 after the twentieth."""
    folder = tmp_path_factory.mktemp("run") / "run"
    shared = {"worlds": list(WORLDS), "series": list(EVERYTHING), "max_contacts": 4}
    recorders = {label: {"type": label, **shared} for label in ("npz", "hdf5", "mcap")}
    states, times = [], []
    with simulate(folder, recorders) as simulation:
        for step in range(30):
            if step == 20:
                simulation.reset([2])
            simulation.step()
            states.append(simulation.state.joint_q.numpy().reshape(4, -1)[list(WORLDS)].copy())
            times.append(simulation.time)
    return Recorded(folder, np.array(states), times)
