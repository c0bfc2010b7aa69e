"""The contract version of plugins: its declaration by a distribution, and the versions that this Pippin accepts."""

from __future__ import annotations

import re
from collections.abc import Collection
from importlib import metadata
from typing import Literal

CONTRACT_VERSIONS = range(1, 2)
"""Contract versions that this Pippin accepts; `docs/reference/contract-version.md` lists what changes a version."""

CONTRACT_GROUP = "pippin.contract"
"""Group of entry points in which a distribution declares the contract version of its plugins: one name, an integer."""

Age = Literal["too-old", "too-new"]


def declared_version(names: Collection[str]) -> int:
    """Return the version that a distribution declares, from its names in `CONTRACT_GROUP`; 1 if it has none."""
    if not names:
        return 1
    (name, *others) = sorted(names)
    if others or not re.fullmatch(r"\d+", name, re.ASCII):
        listed = ", ".join(map(repr, sorted(names)))
        raise ValueError(f"group {CONTRACT_GROUP} declares {listed}; name one entry point there, by an integer")
    return int(name)


def age_of(version: int, accepted: range = CONTRACT_VERSIONS) -> tuple[Age, str] | None:
    """Return whether a version is too old or too new for a host, and the reason; None if the host accepts it."""
    if version in accepted:
        return None
    taken = " to ".join(str(each) for each in dict.fromkeys((accepted[0], accepted[-1])))
    age, cure = ("too-old", "update the plugin") if version < accepted[0] else ("too-new", "update pippin")
    return age, f"it keeps to contract {version}, and Pippin {metadata.version('pippin')} to {taken}; {cure}"
