"""What the host asks of a plugin: before its import a version, after it hooks and `Config` of its class after."""

from __future__ import annotations

import re
from collections.abc import Collection
from importlib import metadata
from typing import Literal

__all__ = ["CONTRACT_GROUP", "CONTRACT_VERSIONS", "Age", "age_of", "declared_version"]

CONTRACT_VERSIONS = range(1, 2)
"""The versions of the contract that this Pippin keeps; `docs/reference/contract-version.md` says what changes them."""

CONTRACT_GROUP = "pippin.contract"
"""The group of entry points whose only name, an integer, is the version that a distribution's plugins keep to."""

Age = Literal["too-old", "too-new"]


def declared_version(names: Collection[str]) -> int:
    """Return the version that a distribution declares, from its names in `CONTRACT_GROUP`; 1 where it has none.

    Raises:
        ValueError: It declares several, or one that is no integer.
    """
    if not names:
        return 1
    (name, *others) = sorted(names)
    if others or not re.fullmatch(r"\d+", name, re.ASCII):
        listed = ", ".join(map(repr, sorted(names)))
        raise ValueError(f"group {CONTRACT_GROUP} declares {listed}; name one entry point there, by an integer")
    return int(name)


def age_of(version: int, accepted: range = CONTRACT_VERSIONS) -> tuple[Age, str] | None:
    """Return whether a version is too old or too new for a host, and why; None where the host keeps it."""
    if version in accepted:
        return None
    taken = " to ".join(str(each) for each in dict.fromkeys((accepted[0], accepted[-1])))
    age, cure = ("too-old", "update the plugin") if version < accepted[0] else ("too-new", "update pippin")
    return age, f"it keeps to contract {version}, and Pippin {metadata.version('pippin')} to {taken}; {cure}"
