"""Checks of an installation in processes of their own: does a plugin load, how long does it take, what can GPUs do?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from importlib import metadata
from multiprocessing.connection import Connection
from typing import Any

import attrs
from packaging.requirements import InvalidRequirement, Requirement
from pippin.catalog.entry import Entry
from pippin.catalog.implementation import ATTRIBUTE, EXTRA
from pippin.components.contract import load_plugin
from pippin.devices import has_driver, start_warp
from pippin.errors import PippinError
from pippin.extras import installation, installed_version, missing_libraries
from pippin.spelling import listed
from pippin.workers import WorkerProcess

__all__ = ["gpu_report"]

START_TIMEOUT = 120.0
"""Longest time that the process may take to start [s]: before the first one, Newton is imported."""


_NO_POOL = (
    "no memory pool, so no graph can allocate; unset WARP_ENABLE_MEMPOOLS_AT_INIT, or set simulation.capture='off'"
)


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
    found = [*metadata.distributions(name=entry.distribution)]
    beside = {each.version for each in found if each.locate_file("") == found[0].locate_file("")}
    if len(beside) > 1:
        text = f"{entry}: {' and '.join(sorted(beside))} are both in its folder, as an upgrade broke off; reinstall it"
        faults = (*faults, text)
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


@attrs.frozen(kw_only=True)
class GpuFacts:
    """Answers of Warp and the driver about GPUs: versions of CUDA, the architectures of NVRTC, and each GPU."""

    toolkit: tuple[int, int] | None
    driver: tuple[int, int] | None
    has_library: bool
    architectures: tuple[int, ...]
    gpus: tuple[tuple[str, bool], ...]
    """Each GPU, and whether its memory pool is on."""

    has_conditional_graphs: bool
    visible: str | None


def diagnose_gpus(timeout: float) -> list[str]:
    """Return what the driver and Warp tell about GPUs, asked in a process of its own: a driver may end it."""
    try:
        with WorkerProcess("the driver", _send_facts) as process:
            process.receive(START_TIMEOUT)
            return list(told(process.receive(timeout)))
    except PippinError as error:
        return [f"GPU: {error}; reinstall NVIDIA's driver"]


def gpu_report() -> list[str]:
    """Return what Warp and the driver tell about GPUs, a line for each fact, with its cure.

    It asks in this process, which a broken driver may end.
    """
    return list(told(gpu_facts()))


def _send_facts(connection: Connection) -> None:
    connection.send(None)  # the interpreter runs
    connection.send(gpu_facts())


def gpu_facts() -> GpuFacts:
    """Return what Warp and the driver say; a driver may end the process."""
    start_warp()
    import warp as wp

    return GpuFacts(
        toolkit=wp.get_cuda_toolkit_version(),
        driver=wp.get_cuda_driver_version(),
        has_library=has_driver(),
        architectures=tuple(wp.get_cuda_supported_archs()),
        gpus=tuple(
            (f"{each.alias}: {each.name}, sm_{each.arch}", each.is_mempool_supported and each.is_mempool_enabled)
            for each in wp.get_cuda_devices()
        ),
        has_conditional_graphs=wp.is_conditional_graph_supported(),
        visible=os.environ.get("CUDA_VISIBLE_DEVICES"),
    )


def told(facts: GpuFacts) -> Iterator[str]:
    """Yield a line about each fact, with its cure."""
    if facts.toolkit is None:
        yield "GPU: this build of Warp has no CUDA, so all runs on the CPU; for a GPU, reinstall warp-lang from PyPI"
        return
    names = ", ".join(f"sm_{each}" for each in facts.architectures)
    yield f"compiler: CUDA {_text(facts.toolkit)}, for {names or 'no GPU, since it lacks NVRTC; reinstall warp-lang'}"
    yield f"driver: {_driver(facts, facts.toolkit)}"
    yield from (f"{gpu}; {'memory pool on' if pool else _NO_POOL}" for gpu, pool in facts.gpus)
    if facts.has_conditional_graphs:
        yield "conditional graphs: yes, so a captured solver stops when it has converged"
    elif facts.gpus:
        cure = "install a driver for CUDA 12.4 or later"
        yield f"conditional graphs: no, so a captured solver takes all its iterations; {cure}"


def _driver(facts: GpuFacts, toolkit: tuple[int, int]) -> str:
    driver, cure = facts.driver, f"install one for CUDA {toolkit[0]}.0 or later"
    if driver is None and facts.has_library:
        return "NVIDIA's is installed, but does not answer; run `nvidia-smi`"
    if driver is None:
        return f"none, so all runs on the CPU; for a GPU, {cure}, or start a container with `--gpus all`"
    if driver < (toolkit[0], 0):
        return f"for CUDA {_text(driver)}, too old for Warp; {cure}"
    if not facts.gpus:
        hidden = facts.visible is not None
        cure = f"CUDA_VISIBLE_DEVICES is {facts.visible!r}, unset it" if hidden else "run `nvidia-smi`"
        return f"for CUDA {_text(driver)}, but it finds no GPU; {cure}"
    return f"for CUDA {_text(driver)}; Warp compiles {'PTX' if driver >= toolkit else 'code of the GPU, no PTX'}"


def _text(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
