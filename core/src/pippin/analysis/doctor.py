"""What no metadata tell of a plugin: whether it can be imported, how long that takes, and what it wants to find."""

from __future__ import annotations

import time
from importlib import metadata
from multiprocessing.connection import Connection

import attrs
from packaging.requirements import InvalidRequirement, Requirement
from pippin.catalog.entries import Entry
from pippin.components.contract import load_plugin
from pippin.errors import PippinError
from pippin.processes import FreshProcess

__all__ = ["Diagnosis", "Want", "diagnose"]


@attrs.frozen(kw_only=True)
class Want:
    """What a distribution requires, and what there is of it."""

    requirement: str
    """As its metadata have it: `newton<1.9,>=1.8`."""

    installed: str | None
    """The version that is installed; None where there is none."""

    is_met: bool

    def __str__(self) -> str:
        return f"{self.requirement} ({self.installed or 'missing'})"


@attrs.frozen(kw_only=True)
class Diagnosis:
    """What became of one plugin in a process of its own."""

    entry: Entry

    seconds: float | None = None
    """How long its module took to import, with all that it imports itself [s]; None where it was not imported."""

    wants: tuple[Want, ...] = ()
    """What its distribution requires here, extras left out."""

    faults: tuple[str, ...] = ()
    """Why it would fail where it is chosen; empty for one that is blocked."""


def diagnose(entry: Entry, timeout: float) -> Diagnosis:
    """Import a plugin in a new interpreter, and hold what its distribution requires against what is installed.

    A plugin that hangs or ends the interpreter is a fault like another. One that is blocked is not imported.

    Args:
        entry: The plugin.
        timeout: How long the interpreter may take, its own start included [s].
    """
    if entry.state == "blocked":
        return Diagnosis(entry=entry)
    wants, faults = _wants(entry)
    try:
        with FreshProcess(str(entry), _import, entry) as process:
            seconds = process.receive(timeout)
    except PippinError as error:
        return Diagnosis(entry=entry, wants=wants, faults=(*str(error).splitlines(), *faults))
    return Diagnosis(entry=entry, seconds=seconds, wants=wants, faults=faults)


def _import(connection: Connection, entry: Entry) -> None:
    start = time.perf_counter()
    load_plugin(entry)
    connection.send(time.perf_counter() - start)


def _wants(entry: Entry) -> tuple[tuple[Want, ...], tuple[str, ...]]:
    """Return the requirements that apply here, and a fault for each that is not met."""
    wants = []
    for text in metadata.requires(entry.distribution) or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            return (), (f"{entry}: requires {text!r}, which is no requirement; reinstall it ({_one_line(error)})",)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            wants.append(_want(requirement))
    unmet = (want for want in wants if not want.is_met)
    return tuple(wants), tuple(f"{entry}: wants {want}; install a version that it wants" for want in unmet)


def _want(requirement: Requirement) -> Want:
    try:
        installed = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        installed = None
    is_met = installed is not None and requirement.specifier.contains(installed, prereleases=True)
    return Want(requirement=f"{requirement.name}{requirement.specifier}", installed=installed, is_met=is_met)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
