"""A task as it is written: its tables, and what of the original has no twin."""

from __future__ import annotations

from typing import Any

import attrs


@attrs.frozen
class Left:
    """A part of the original that is not written."""

    place: str
    """Where it stands there: `rewards.pose`."""

    name: str
    """Its name there: of its function, its class or its key."""

    reason: str
    """Why it has no twin."""

    def __str__(self) -> str:
        return f"{self.place}: {self.name}: {self.reason}"


class NoTwinError(Exception):
    """A part has no twin; the reason is its text."""


@attrs.define
class WrittenTask:
    """The tables of a file, and what is told about them."""

    title: str
    """The first line of the file."""

    tables: dict[str, Any] = attrs.field(factory=dict)
    """The tables, of plain data."""

    left: list[Left] = attrs.field(factory=list)
    """Parts that have no twin."""

    notes: list[str] = attrs.field(factory=list)
    """What a twin does otherwise, and what is left to do."""
