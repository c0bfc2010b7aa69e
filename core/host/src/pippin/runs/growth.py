"""Growth of buffers that overflowed: the configuration with larger sizes, for a second start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from pippin.config import ComponentConfig, SimulationConfig
from pippin.errors import BufferOverflowError
from pippin.solving.contact_source import Capacity

RESTARTS_MAX = 5
"""Starts with larger buffers after which an overflow ends the run: each doubles a buffer at least."""

_FACTOR = 2
"""Size of a buffer at the next start, relative to this one."""

_HEAD_ROOM = 1.25
"""Size of a buffer at the next start, relative to the largest need that was seen."""


class Growth:
    """Starts of a run with larger buffers."""

    def __init__(self, config: SimulationConfig) -> None:
        #: The configuration as the user gave it, and that of the next start.
        self.original = self.config = config
        #: A note for each start with larger buffers.
        self.notes: list[str] = []

    @property
    def is_exhausted(self) -> bool:
        """Whether the run has started so often that another overflow ends it."""
        return len(self.notes) >= RESTARTS_MAX

    def grow(self, sizes: Mapping[str, int], time: float) -> None:
        """Set the sizes of buffers, by key, that were full by a time [s]."""
        for field, size in sizes.items():
            self.config = _with(self.config, field.split("."), size)
        keys = ", ".join(f"{field} = {size}" for field, size in sizes.items())
        self.notes.append(
            f"buffers were full by t = {time:.6g} s, so the run started again with larger ones;"
            f" write {keys} into the file to start with these sizes"
        )


def sizes_for(
    config: SimulationConfig, capacities: Sequence[Capacity], error: BaseException | None
) -> dict[str, int] | None:
    """Return larger sizes for the buffers that overflowed, by key, or None if the user chose one of them.

    The host chooses the size of a buffer if the user's configuration leaves its key out. Only a `BufferOverflowError`
    that ended the run can be cured.
    """
    if not isinstance(error, BufferOverflowError):
        return None
    sizes = {}
    for field, needed in error.needed.items():
        capacity = next((each for each in capacities if each.field == field), None)
        if capacity is None or capacity.cure is not None or not _is_left_out(config, field.split(".")):
            return None
        allocated = capacity.allocated // capacity.shared_by
        sizes[field] = max(_FACTOR * allocated, math.ceil(_HEAD_ROOM * (needed or 0)))
    return sizes


def _is_left_out(table: Any, keys: Sequence[str]) -> bool:
    for key in keys:
        table = table.config if isinstance(table, ComponentConfig) else table
        if not hasattr(table, key):
            return False
        table = getattr(table, key)
    return table is None


def _with(table: Any, keys: Sequence[str], size: int) -> Any:
    """Return a table of the configuration in which the key at the end of a path has a value."""
    if isinstance(table, ComponentConfig):
        return attrs.evolve(table, config=_with(table.config, keys, size))
    first, *rest = keys
    if isinstance(table, SimulationConfig) and first in table.tables:
        return table.with_tables(**{first: _with(table.tables[first], rest, size)})
    return attrs.evolve(table, **{first: _with(getattr(table, first), rest, size) if rest else size})
