"""Summary of several processes, as if one had run: its parts, merged in world order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .summary import with_limits

_UNIONS = ("plugins", "versions", "hardware")


def merged(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return program, notes, imports, buffers, plugins, versions and hardware of all worlds.

    Args:
        parts: The same of each process, by its worlds in words. `capacities` have `is_per_world` too, and `notes` leave
            out the limits of iterations, which `iteration_limit_count` counts.
    """
    ran = list(parts.values())
    limits = sum(each["iteration_limit_count"] for each in ran)
    return {
        "program": _program([each["program"] for each in ran]),
        "notes": with_limits(_notes({worlds: each["notes"] for worlds, each in parts.items()}), limits),
        "imports": _union([each["imports"] for each in ran]),
        "capacities": _capacities([each["capacities"] for each in ran]),
        **{name: _union([each[name] for each in ran]) for name in _UNIONS},
    }


def _program(programs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    captured = all(program["captured"] for program in programs)
    reasons = _union([program["eager_reasons"] for program in programs])
    return {**programs[0], "captured": captured, "eager_reasons": reasons}


def _notes(parts: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, Sequence[str]]:
    """Return the notes by component, each once; worlds stand before a note that is not about all that have one."""
    found: dict[str, list[str]] = {}
    for name in _union(list(parts.values())):
        sayers = {worlds: notes[name] for worlds, notes in parts.items() if name in notes}
        for text in dict.fromkeys(text for texts in sayers.values() for text in texts):
            worlds = [each for each, texts in sayers.items() if text in texts]
            is_of_all = len(worlds) == len(parts)
            found.setdefault(name, []).append(text if is_of_all else f"{', '.join(worlds)}: {text}")
    return dict(found)


def _capacities(parts: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return the buffers of all processes together; of those with room for each world, the smallest."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for rows in parts:
        for row in rows:
            found.setdefault((row["field"], row["holds"]), []).append(row)
    together = {buffer: min if rows[0]["is_per_world"] else sum for buffer, rows in found.items()}
    return [
        {"field": buffer[0], "holds": buffer[1], "allocated": together[buffer](row["allocated"] for row in rows)}
        for buffer, rows in found.items()
    ]


def _union(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the entries of all tables; of those with one name, the first."""
    found: dict[str, Any] = {}
    for table in tables:
        for name, value in table.items():
            found.setdefault(name, value)
    return found
