"""Bitwise comparison of two runs of one file, each in a fresh process, after every control step."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.config import load
from pippin.devices import warp_quiet
from pippin.simulation import Simulation, import_hot_modules
from pippin.state.state_record import StateRecord
from pippin.state.world_rows import worlds_of
from pippin.workers import WorkerProcess

__all__ = ["Difference", "verify"]


@attrs.frozen(kw_only=True)
class Difference:
    """First difference between two runs."""

    step: int
    """Control steps done; 0 if the runs differ before the first step."""

    time: float
    """Simulated time [s]."""

    name: str
    """The first array that differs, such as `state.joint_q`, or the attribute of a component."""

    world: int | None
    """The first world whose part of the array differs; None if its rows belong to no world."""

    largest: float | None
    """The largest difference between two entries, in the unit of the array; None if it is not a finite number."""

    others: int
    """Number of other arrays and attributes that differ after the same step."""

    def __str__(self) -> str:
        """Return the difference and its cures in one line."""
        place = "" if self.world is None else f" of world {self.world}"
        size = "" if self.largest is None else f" by {self.largest:.3g} at most"
        others = f", and {self.others} more" if self.others else ""
        return (
            f"step {self.step} (t = {self.time:.6g} s): {self.name}{place} differs between two runs{size}{others};"
            " seed what draws random numbers with simulation.seed, let nothing depend on time or on the order of a set,"
            ' and on a GPU set simulation.determinism = "run-to-run"'
        )


def verify(
    file: Path, overrides: Sequence[str], steps: int, progress: Callable[[int], None] = lambda step: None
) -> Difference | None:
    """Run a file twice, side by side in fresh processes, and return the first difference; None if there is none.

    Args:
        file: A configuration file.
        overrides: Values that replace those of the file, as on the command line.
        steps: Number of control steps to compare.
        progress: Called with the number of control steps compared.

    Raises:
        ConfigError: The file is wrong.
        PluginError: A plugin is broken.
        SimulationError: A run fails, or ends in values that are not finite.
    """
    before = partial(import_hot_modules, requires_grad=load(file, overrides).simulation.requires_grad)
    with (
        WorkerProcess("first run", _replay, file, overrides, steps, before=before) as first,
        WorkerProcess("second run", _replay, file, overrides, steps, before=before) as second,
    ):
        runs = (first, second)
        for step in range(steps + 1):
            left, right = (run.receive() for run in runs)
            odd = [name for name in left | right if left.get(name) != right.get(name)]
            for run in runs:
                run.send(odd[0] if odd else None)
            if odd:
                return _difference(step, odd, *(run.receive() for run in runs))
            progress(step)
        for run in runs:
            run.receive()  # a run that ended in NaN raises here; both runs ended in the same values
    return None


@attrs.frozen(kw_only=True)
class _Contents:
    """Values of one run under one name."""

    time: float
    array: np.ndarray | None
    world_of_row: np.ndarray | None


def _replay(connection: Connection, file: Path, overrides: Sequence[str], steps: int) -> None:
    """Run the file; send digests after each step, and the values of the array that the caller asks for."""
    with warp_quiet(), Simulation(load(file, overrides).unobserved()) as simulation:
        for step in range(steps + 1):
            simulation.step(min(step, 1))
            record = simulation.state_record()
            connection.send(_digests(record))
            asked = connection.recv()
            if asked is not None:
                connection.send(_contents(simulation, record, asked))
                return
        simulation.raise_errors()
        connection.send(None)


def _digests(record: StateRecord) -> dict[str, bytes]:
    """Return a digest of each array, then of each Python value, by name."""
    found = {name: array.tobytes() for name, array in record.arrays.items() if not _is_scratch(name)}
    for owner, values in record.counts.items():
        found |= {f"{owner}.{name}": repr(value).encode() for name, value in values.items()}
    return {name: hashlib.blake2b(data, digest_size=16).digest() for name, data in found.items()}


def _is_scratch(name: str) -> bool:
    """Return whether an array is private data of a solver in the state, which may hold unused memory."""
    owner, _, rest = name.partition(".")
    return owner in ("state", "next_state") and "._" in f".{rest}"


def _contents(simulation: Simulation, record: StateRecord, name: str) -> _Contents:
    array = record.arrays.get(name)
    worlds = None if array is None else _world_of_row(simulation, name, array)
    return _Contents(time=simulation.time, array=array, world_of_row=worlds)


def _world_of_row(simulation: Simulation, name: str, array: np.ndarray) -> np.ndarray | None:
    """Return the world of each row: from the model for arrays of the state, else equal parts as in components."""
    owner, _, attribute = name.rpartition(".")
    if owner in ("state", "next_state", "control"):
        worlds = worlds_of(simulation.model, attribute)
        return worlds if worlds is not None and len(worlds) == len(array) else None
    count = simulation.world_count
    rows = array.shape[0] if array.ndim else 0
    return np.repeat(np.arange(count), rows // count) if rows and rows % count == 0 else None


def _difference(step: int, names: Sequence[str], left: _Contents, right: _Contents) -> Difference:
    world, largest = None, None
    if left.array is not None and right.array is not None and left.array.shape == right.array.shape:
        largest = _largest(left.array, right.array)
        world = _first_world(left.array, right.array, left.world_of_row)
    return Difference(step=step, time=left.time, name=names[0], world=world, largest=largest, others=len(names) - 1)


def _largest(left: np.ndarray, right: np.ndarray) -> float | None:
    if left.dtype.kind not in "biuf":
        return None
    with np.errstate(invalid="ignore"):
        apart = np.abs(left.astype(np.float64) - right.astype(np.float64)).max(initial=0.0)
    return float(apart) if np.isfinite(apart) else None


def _first_world(left: Any, right: Any, world_of_row: np.ndarray | None) -> int | None:
    if world_of_row is None:
        return None
    odd = [row for row in range(len(left)) if left[row].tobytes() != right[row].tobytes()]
    return int(world_of_row[odd[0]]) if odd and world_of_row[odd[0]] >= 0 else None
