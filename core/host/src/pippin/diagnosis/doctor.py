"""Checks of a plugin that need an import: does it load, how long does that take, are its requirements installed?"""

from __future__ import annotations

import time
from collections.abc import Iterable
from importlib import metadata
from multiprocessing.connection import Connection
from typing import Any

import attrs
from packaging.requirements import InvalidRequirement, Requirement
from pippin.catalog.entry import Entry
from pippin.catalog.implementation import ATTRIBUTE, EXTRA
from pippin.components.contract import load_plugin
from pippin.errors import PippinError
from pippin.extras import installation, installed_version, missing_libraries
from pippin.spelling import listed
from pippin.workers import WorkerProcess

START_TIMEOUT = 120.0
"""Longest time that the process may take to start [s]: before the first one, Newton is imported."""


@attrs.frozen(kw_only=True)
class VersionRequirement:
    """A requirement of a distribution, and the installed version."""

    requirement: str
    """Requirement with its version range, as in `newton<1.9,>=1.8`."""

    installed: str | None
    """The installed version; None if the distribution is not installed."""

    is_met: bool

    def __str__(self) -> str:
        return f"{self.requirement} ({self.installed or 'missing'})"


@attrs.frozen(kw_only=True)
class Diagnosis:
    """Result of importing one plugin in a process of its own."""

    entry: Entry

    seconds: float | None = None
    """Time of the import of its module and of what this imports, but for Newton [s]; None if it was not imported."""

    wants: tuple[VersionRequirement, ...] = ()
    """Requirements of its distribution that apply to this environment, without those of extras."""

    lack: str | None = None
    """Libraries of its extra that are not installed, with the command that installs them; they are optional."""

    faults: tuple[str, ...] = ()
    """Reasons why a simulation with the plugin would fail; empty for a blocked plugin."""

    @property
    def unmet(self) -> tuple[VersionRequirement, ...]:
        """The requirements of which another version is installed, or none."""
        return tuple(want for want in self.wants if not want.is_met)

    @property
    def own_faults(self) -> tuple[str, ...]:
        """The faults without those of requirements, which all plugins of a distribution share, and many others."""
        shared = {_unmet(self.entry, want) for want in self.unmet}
        return tuple(fault for fault in self.faults if fault not in shared)


def diagnose(entry: Entry, timeout: float) -> Diagnosis:
    """Import a plugin in a process of its own, and compare its distribution's requirements with the installed versions.

    A plugin that hangs or ends the interpreter gives a fault like any other. A plugin that is blocked, or
    in a group that nothing reads, is not imported.

    Args:
        entry: The plugin.
        timeout: Longest time of the import [s], from its start; the start of the process has a time of its own.
    """
    if entry.state in ("blocked", "unread"):
        return Diagnosis(entry=entry)
    wants, faults = _wants(entry)
    try:
        with WorkerProcess(str(entry), _import, entry, preload=()) as process:
            process.receive(START_TIMEOUT)
            found = process.receive(timeout)
    except PippinError as error:
        return Diagnosis(entry=entry, wants=wants, faults=(*str(error).splitlines(), *faults))
    seconds, lack = (None, f"{entry}: {found}") if isinstance(found, str) else (found, None)
    return Diagnosis(entry=entry, seconds=seconds, wants=wants, lack=lack, faults=faults)


def _import(connection: Connection, entry: Entry) -> None:
    connection.send(None)  # the interpreter runs, and has imported Pippin
    start = time.perf_counter()
    extra = getattr(_named(entry), EXTRA, None)
    if extra and (names := missing_libraries(extra, entry.distribution)):
        connection.send(f"needs {', '.join(names)}; install it by `{installation(extra, entry.distribution)}`")
        return
    if entry.provides == "configuration" or hasattr(_named(entry), ATTRIBUTE):
        load_plugin(entry)
    connection.send(time.perf_counter() - start)


def _named(entry: Entry) -> Any:
    """Return what the entry point names: a configuration, a command, or the type of a table."""
    load = {"command": entry.load_command, "table": entry.load_table, "configuration": entry.load_config}
    return load[entry.provides]()


def _wants(entry: Entry) -> tuple[tuple[VersionRequirement, ...], tuple[str, ...]]:
    """Return the requirements that apply to this environment, and a fault for each that is not met."""
    wants = []
    for text in metadata.requires(entry.distribution) or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            reason = " ".join(str(error).split())
            return (), (f"{entry}: requires {text!r}, which is not a requirement; reinstall it ({reason})",)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            name, installed = requirement.name, installed_version(requirement.name)
            is_met = installed is not None and requirement.specifier.contains(installed, prereleases=True)
            stated = f"{name}{requirement.specifier}"
            wants.append(VersionRequirement(requirement=stated, installed=installed, is_met=is_met))
    return tuple(wants), tuple(_unmet(entry, want) for want in wants if not want.is_met)


def unmet_requirements(diagnoses: Iterable[Diagnosis]) -> list[str]:
    """Return a line for each requirement that is not met, with the distributions that have it."""
    found: dict[VersionRequirement, list[str]] = {}
    for each in diagnoses:
        for want in each.unmet:
            found.setdefault(want, []).append(f"{each.entry.distribution} {each.entry.version}")
    return [
        f"{Requirement(want.requirement).name} {f'{want.installed} is installed' if want.installed else 'is missing'};"
        f" {want.requirement} is wanted by {listed(names)}: run `uv pip install '{want.requirement}'`"
        for want, names in found.items()
    ]


def _unmet(entry: Entry, want: VersionRequirement) -> str:
    return f"{entry}: wants {want}; install a version that it wants"
