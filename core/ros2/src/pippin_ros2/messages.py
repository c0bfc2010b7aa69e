"""The messages of ROS 2 that a robot needs, with the hashes of their types, and their names on the wire."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path

from .cdr import Table


@functools.cache
def _file() -> dict[str, Table]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def messages() -> Table:
    """Return the fields of the messages."""
    return _file()["fields"]


def hashes() -> Table:
    """Return the hashes of the types of topics, by the name of the message."""
    return _file()["hashes"]


def dds_name(name: str) -> str:
    """Return the name of a type on the wire, such as `sensor_msgs::msg::dds_::JointState_`."""
    package, _, own = name.partition("/")
    return f"{package}::msg::dds_::{own}_"


def stamp(seconds: float) -> dict[str, int]:
    """Return a time [s] as the fields of a message."""
    nanoseconds = round(seconds * 1e9)
    return {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9}
