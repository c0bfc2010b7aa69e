"""The low-level messages of Unitree's robots, and the order of their motors."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

from pippin_ros2.cdr import Table


@functools.cache
def _file() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def messages() -> Table:
    """Return the fields of the messages."""
    return _file()["fields"]


def motors(robot: str) -> list[str]:
    """Return the names of a robot's motors in the order of the messages."""
    return _file()["robots"][robot]["motors"].split()


def package(robot: str) -> str:
    """Return the package of a robot's messages."""
    return _file()["robots"][robot]["package"]
