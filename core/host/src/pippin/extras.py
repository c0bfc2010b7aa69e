"""Optional libraries, which a plugin imports when it is used, and the versions of those that Pippin requires."""

from __future__ import annotations

import functools
import json
from importlib import import_module, metadata
from types import ModuleType

from packaging.requirements import Requirement
from pippin.errors import PluginError

__all__ = ["import_library"]


def import_library(name: str, extra: str, distribution: str = "pippin") -> ModuleType:
    """Import a library that an extra of a distribution requires.

    Args:
        name: Name of the module.
        extra: Name of the extra.
        distribution: Name of the distribution.

    Raises:
        PluginError: The library is not installed, or broken.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise PluginError(
            f"'{name}' cannot be imported ({error}); install it by `{installation(extra, distribution)}`"
        ) from error


def installation(extra: str, distribution: str = "pippin") -> str:
    """Return the command that installs an extra, in a clone of Pippin as well as for an installed distribution."""
    if _is_of_a_clone(distribution):  # Pippin on the index may be another version
        group = distribution.removeprefix("pippin-solver-") if extra == "engine" else extra
        return f"uv sync --inexact --group {group}"
    return f"uv pip install '{distribution}[{extra}]'"


def _is_of_a_clone(distribution: str) -> bool:
    try:
        origins = [
            json.loads(metadata.distribution(name).read_text("direct_url.json") or "{}")
            for name in (distribution, "pippin")
        ]
    except metadata.PackageNotFoundError:
        return False
    own, host = (each.get("url", "") if each.get("dir_info", {}).get("editable") else "" for each in origins)
    return bool(own) and own.startswith(host.rpartition("/core/")[0] + "/")


def missing_libraries(extra: str, distribution: str = "pippin") -> list[str]:
    """Return the distributions that an extra requires, also by extras of others, and that are not installed.

    Nothing is imported.
    """
    try:
        lines = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return []
    marked = [(each, each.marker) for each in map(Requirement, lines) if each.marker]
    wanted = [
        each for each, marker in marked if marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""})
    ]
    return [name for each in wanted for name in _missing(each)]


def _missing(requirement: Requirement) -> list[str]:
    if installed_version(requirement.name) is None:
        return [requirement.name]
    return [name for extra in sorted(requirement.extras) for name in missing_libraries(extra, requirement.name)]


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
