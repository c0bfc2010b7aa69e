"""Fast checks of a plugin after each save of its files, in forks of a process that has imported Newton."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import metadata
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import attrs
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pippin import PluginError
from pippin.catalog import Entry
from pippin.workers import WorkerProcess, start_warm_process, wait_any

from .outcomes import CheckResult

SECONDS = 1.7
"""Time of a process after which it begins no check [s]."""

_PERIOD = 0.1
"""Time between two looks at the files [s]."""

_DUE = 0.1
"""Checks that take no longer are due in the first process; physics that takes more, in the second [s]."""


_KIT = (__name__, "pippin_conformance.suite")


def start_beside(entry: Entry) -> None:
    """Start the process whose forks run the checks: it imports Newton beside its caller, and what the plugin's
    distribution requires, which no save changes. If such an import starts threads, each save waits for the imports.
    """
    start_warm_process([*_required(entry), *_KIT])


def _required(entry: Entry) -> list[str]:
    lines = () if entry.is_outside else metadata.requires(entry.distribution) or ()
    needed = [each for each in map(Requirement, lines) if not each.marker or each.marker.evaluate({"extra": ""})]
    names = {canonicalize_name(each.name) for each in needed}
    modules = metadata.packages_distributions().items()
    found = {module for module, distributions in modules if names & set(map(canonicalize_name, distributions))}
    return sorted(module for module in found if module.isidentifier() and not module.startswith(("_", "pippin")))


def saves(entry: Entry) -> Iterator[None]:
    """Yield at once, and then after each change of the files of a plugin: of its package, or its only file.

    Raises:
        PluginError: No file of the plugin is found, such as of an installed archive.
    """
    files = _files_of(entry)
    if not files():
        raise PluginError(f"{entry}: --watch: its files are not found; install it editable, or leave out --watch")
    while True:
        seen = files()
        yield
        while files() == seen:
            time.sleep(_PERIOD)


def _files_of(entry: Entry) -> Callable[[], dict[Path, int]]:
    """Return a function that returns the times of the plugin's files, by path."""
    place = entry.value.rpartition(":")[0].strip()
    if place.endswith(".py"):
        return lambda: _times([Path(place)])  # it can import no files beside it
    spec = importlib.util.find_spec(place.partition(".")[0])
    folders = [] if spec is None else list(spec.submodule_search_locations or [])
    if spec is not None and not folders:
        return lambda: _times([Path(str(spec.origin))])
    return lambda: _times(path for folder in folders for path in Path(folder).rglob("*"))


def _times(paths: Iterable[Path]) -> dict[Path, int]:
    found = {}
    for path in paths:
        try:
            if path.suffix != ".pyc" and path.is_file():
                found[path] = path.stat().st_mtime_ns
        except FileNotFoundError:  # an editor moves files when it saves
            continue
    return found


def results_of_save(arguments: Mapping[str, Any], checks: list[str], *, seconds: float = SECONDS) -> list[CheckResult]:
    """Run the fast checks of a plugin as its files are now, in two processes.

    Args:
        arguments: Those of `Conformance`, by name; plain data.
        checks: Names of the checks, in their order.
        seconds: Time of each process after which it begins no check [s].

    Raises:
        SimulationError: A process ended without an answer.
    """
    found: dict[str, CheckResult] = {}
    with _worker(arguments, 0, seconds) as contract, _worker(arguments, 1, seconds) as physics:
        waiting = [contract, physics]
        while waiting:
            for worker in wait_any(waiting):
                result = worker.receive()
                if result is None:
                    waiting.remove(worker)
                else:
                    found.setdefault(result.check, result)
    if (first := found.get("entry_point")) is not None and first.outcome == "failed":
        return [first]
    return [found[name] for name in checks if name in found]


def _worker(arguments: Mapping[str, Any], part: int, seconds: float) -> WorkerProcess:
    return WorkerProcess("check-plugin", _check, dict(arguments), part, seconds, preload=_KIT)


def _check(connection: Connection, arguments: dict[str, Any], part: int, seconds: float) -> None:
    from .suite import Conformance, fast

    kit = Conformance(**arguments)
    names = fast(kit.checks.values())
    dear = [name for name in names if kit.checks[name].seconds > _DUE]
    parts = ([name for name in names if name not in dear], dear)
    for result in kit.results(parts[part], seconds):
        connection.send(attrs.evolve(result, error=None))
    connection.send(None)
