"""Versions of what Pippin requires: those that it is made for, beside those that are installed."""

from __future__ import annotations

import functools
from importlib import metadata

from packaging.requirements import Requirement


@functools.cache
def version_faults() -> tuple[str, ...]:
    """Return a sentence for each required library of which another version is installed; nothing is imported."""
    own, faults = metadata.version("pippin"), []
    for requirement in map(Requirement, metadata.requires("pippin") or ()):
        installed = None if requirement.marker is not None else installed_version(requirement.name)
        if installed is not None and not requirement.specifier.contains(installed, prereleases=True):
            faults.append(
                f"{requirement.name} {installed} is installed, and Pippin {own} is made for {requirement}; run"
                f" `uv pip install '{requirement}'`, or update pippin"
            )
    return tuple(faults)


def installed_version(distribution: str) -> str | None:
    """Return the installed version of a distribution; None if it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
