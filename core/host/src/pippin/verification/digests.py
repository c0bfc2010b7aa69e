"""One of the two runs that are compared bit by bit: the digests of its arrays after every control step."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from pippin.config import load
from pippin.simulation import Simulation
from pippin.state.step_data import StateRecord
from pippin.state.world_rows import worlds_of

from .compared_values import ComparedValues


def replay(connection: Connection, file: Path, overrides: Mapping[str, Any] | Sequence[str] | None, steps: int) -> None:
    """Run the file; send digests after each step, and the values of the array that the caller asks for."""
    with Simulation(load(file, overrides).unobserved()) as simulation:
        for step in range(steps + 1):
            simulation.step(min(step, 1))
            record = simulation.state_record()
            connection.send(_digests(record))
            request = connection.recv()
            if request is not None:
                connection.send(_values_of(simulation, record, request))
                return
        simulation.raise_errors()
        connection.send(None)


def _digests(record: StateRecord) -> dict[str, bytes]:
    found = {name: array.tobytes() for name, array in record.arrays.items() if not _is_scratch(name)}
    for owner, values in record.counts.items():
        found |= {f"{owner}.{name}": repr(value).encode() for name, value in values.items()}
    return {name: hashlib.blake2b(data, digest_size=16).digest() for name, data in found.items()}


def _is_scratch(name: str) -> bool:
    """Return whether an array is private data of a solver in the state, which may hold unused memory."""
    owner, _, rest = name.partition(".")
    return owner in ("state", "next_state") and "._" in f".{rest}"


def _values_of(simulation: Simulation, record: StateRecord, name: str) -> ComparedValues:
    array = record.arrays.get(name)
    worlds = None if array is None else _world_of_row(simulation, name, array)
    return ComparedValues(time=simulation.time, array=array, world_of_row=worlds)


def _world_of_row(simulation: Simulation, name: str, array: np.ndarray) -> np.ndarray | None:
    """Return the world of each row: from the model for arrays of the state, else equal parts as in components."""
    owner, _, attribute = name.rpartition(".")
    if owner in ("state", "next_state", "control"):
        worlds = worlds_of(simulation.model, attribute)
        return worlds if worlds is not None and len(worlds) == len(array) else None
    count = simulation.world_count
    rows = array.shape[0] if array.ndim else 0
    return np.repeat(np.arange(count), rows // count) if rows and rows % count == 0 else None
