"""Benches of features and trials of runtime changes, in a process beside the checks of the step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

from pippin import PluginError
from pippin.workers import WorkerProcess

from .findings import measured_features
from .plugin_under_test import PluginUnderTest
from .trials import answers, refusals, trusted

TRIALS = {
    "features": measured_features,
    "answers": answers,
    "refusals": refusals,
    "trusted": trusted,
}
"""What the process does, by the attribute of `Runs` that has the results."""


def begin_benches(subject: PluginUnderTest) -> WorkerProcess:
    """Start the trials of a solver in a process of its own, which sends the results, or an error in place of each."""
    tables = dict(subject.config), dict(subject.tables)
    return WorkerProcess(str(subject), _send_results, subject.name, *tables, subject.dt, preload=())


def _send_results(connection: Connection, name: str, config: Any, tables: Mapping[str, Any], dt: float) -> None:
    subject = PluginUnderTest(kind="solver", name=name, config=config, tables=tables, dt=dt)
    connection.send({trial: _tried(run, subject) for trial, run in TRIALS.items()})


def _tried(run: Callable[[PluginUnderTest], Any], subject: PluginUnderTest) -> Any:
    try:
        results = run(subject)
    except Exception as error:  # a plugin may raise anything
        return _plain(error)
    return {name: _plain(found) if isinstance(found, Exception) else found for name, found in results.items()}


def _plain(error: Exception) -> PluginError:
    """Return an error that can be sent, whatever the other one has in it."""
    return PluginError(str(error) or type(error).__name__)
