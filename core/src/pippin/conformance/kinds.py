"""Kinds of plugins as the kit tests them, and the tables of a simulation in which a plugin of each kind stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pippin.catalog.entry import KINDS, PLURALS, Kind

LABEL = "tested"
"""Label of the plugin in the simulations that test it; a solver has none."""

PARTS: tuple[Kind, ...] = ("solver", "actuator", "sensor")
"""Kinds that take part in each step."""

OBSERVERS: tuple[Kind, ...] = ("viewer", "recorder")
"""Kinds that only look at a simulation."""

COMPONENTS: tuple[Kind, ...] = (*PARTS, *OBSERVERS, "controller", "motion", "plugin")
"""Kinds of which a simulation makes a component from its table."""

CONTENT: tuple[Kind, ...] = ("importer", "object")
"""Kinds that add bodies and shapes to a scene, and take no part in a step."""

CARRIED: tuple[Kind, ...] = ("clamping", "stage")
"""Kinds that act within an actuator or a sensor; the kit has one of each to carry them."""

TERMS: tuple[Kind, ...] = ("quantity", "action", "reward", "termination", "event", "command", "curriculum", "metric")
"""Kinds that act within a task."""

CONFIGURED: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind != "subcommand")
"""Kinds with a configuration: all but click commands."""

SIMULATED: tuple[Kind, ...] = tuple(
    kind for kind in CONFIGURED if kind not in ("reader", "executor", "trainer", "log", "scene", "terrain", *CONTENT)
)
"""Kinds that take part in the kit's simulations."""


def tables_of(kind: Kind, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a file that name a plugin; none for a kind that a part of the kit carries."""
    if kind == "solver":
        return {"solver": table}
    if kind == "quantity":
        return _task({"observations": {"policy": {LABEL: {"of": table}}}})
    if kind in TERMS:
        return _task({PLURALS[kind]: {LABEL: table}})
    return {PLURALS[kind]: {LABEL: table}} if kind in COMPONENTS else {}


def _task(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return a task in which no world is reset but by the kit."""
    return {"task": {"autoreset": "disabled", **tables}}


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return two tables in one; values of the second one replace those of the first."""
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result
