"""Values of a simulation by world, found by their name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp
from pippin.errors import ConfigError
from pippin.sensing import Output
from pippin.spelling import did_you_mean
from pippin.state.world_rows import worlds_of

if TYPE_CHECKING:
    from pippin.simulation import Simulation

_BY_FREQUENCY = ("state", "control", "model")
"""Owners of arrays whose rows are joints, bodies or other elements of worlds."""


def world_values(simulation: Simulation, name: str) -> np.ndarray:
    """Return the values of all worlds, shape [worlds, …]; a copy on the host.

    Args:
        simulation: The simulation.
        name: Path of an array: `state.joint_q`, `control.joint_f`, `actuators.legs.applied_effort`,
            `sensors.torso.angular_velocity`, `task.episodes.reward`.

    Raises:
        ConfigError: There is no such array, or its rows do not belong to worlds in equal parts.
    """
    owner, _, rest = name.partition(".")
    array = _found(simulation, name)
    values, count = array.numpy(), simulation.world_count
    if owner not in _BY_FREQUENCY:
        if len(values) != count:
            raise _unequal(name, f"its shape is {list(values.shape)}, and the first axis is not that of worlds")
        return values.copy()
    worlds = worlds_of(simulation.model, rest)
    if worlds is None or len(worlds) != len(values):
        raise _unequal(name, "its rows do not belong to worlds")
    rows = np.bincount(worlds[worlds >= 0], minlength=count)
    if len(set(rows.tolist())) != 1:
        raise _unequal(name, f"worlds have from {rows.min()} to {rows.max()} rows")
    order = np.argsort(worlds, kind="stable")[np.count_nonzero(worlds < 0) :]
    return values[order].reshape(count, rows[0], *values.shape[1:])


def _found(simulation: Simulation, name: str) -> Any:
    found: Any = simulation
    for part in name.split("."):
        outputs = getattr(found, "outputs", None)
        table = outputs if isinstance(outputs, Mapping) and part in outputs else found
        if isinstance(table, Mapping):
            known, found = list(table), table.get(part)
        else:
            known = [key for key in dir(found) if not key.startswith("_")]
            found = None if part.startswith("_") else getattr(found, part, None)
        if found is None:
            raise ConfigError(f"gather: no array {name!r}: there is no {part!r}{did_you_mean(part, known)}")
    found = found.data if isinstance(found, Output) else found
    if not isinstance(found, wp.array):
        raise ConfigError(f"gather: {name!r} is not an array, but a {type(found).__name__}; name one of its arrays")
    return found


def _unequal(name: str, reason: str) -> ConfigError:
    return ConfigError(f"gather: {name!r} has no equal part for each world: {reason}; read it by `call`")
