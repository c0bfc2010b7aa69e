"""Keys of a plugin's own table that the host knows: what it reads of a configuration, if the class has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from pippin.catalog.source import first_party_distribution


def joints_of(config: Any) -> Sequence[str]:
    """Return the patterns of an actuator's key `joints`, by which a file takes joints over from a USD stage."""
    return getattr(config, "joints", ())


def has_deterministic(config: Any) -> bool:
    """Tell whether a solver has the key `deterministic`, which `simulation.determinism` sets to true on a GPU."""
    return attrs.has(type(config)) and hasattr(config, "deterministic")


def replaced_keys_of(cls: type) -> Mapping[str, str]:
    """Return the class attribute `replaced_keys`: keys of an earlier version, with what to do instead."""
    return getattr(cls, "replaced_keys", {})


def other_keys_of(cls: type) -> Mapping[str, Any]:
    """Return what the method `other_keys` of a class says: keys besides its fields, such as the tables of packages."""
    return getattr(cls, "other_keys", dict)()


def needs_of(cls: type) -> Sequence[str]:
    """Return the class attribute `needs` of a table's class: other tables, of which the components come first."""
    return getattr(cls, "needs", ())


def missing_distribution_of(cls: type, key: str) -> str | None:
    """Return the distribution of Pippin's own that has a table of a file and is not installed; None if none has it."""
    return first_party_distribution("tables", key) if hasattr(cls, "other_keys") else None
