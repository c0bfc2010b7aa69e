"""The plugins of Pippin's own distributions besides the host, so that an error can say which one to install."""

from __future__ import annotations

import tomllib
from importlib import resources


def first_party_distribution(plural: str, name: str) -> str | None:
    """Return the distribution of Pippin's own that has a plugin of a kind, in the plural, and a name; None if there is
    none, or it is the host.
    """
    text = resources.files("pippin.catalog").joinpath("first_party.toml").read_text(encoding="utf-8")
    for distribution, kinds in tomllib.loads(text).items():
        if name in kinds.get(plural, "").split():
            return distribution
    return None
