"""The logger of MLflow."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import Metric, Param

from .configs import MlflowConfig
from .logger import Ending, LoggedRun, Logger

_STATES = {"finished": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}

_TEXT_MAX = 500
"""Longest value of a parameter that all of the library's stores take."""

_BATCH = 100
"""Most parameters of a call."""


class MlflowLogger(Logger):
    """Logs into a run of MLflow, which has the name of the run folder."""

    def __init__(self, config: MlflowConfig, run: LoggedRun) -> None:
        super().__init__(config, run)
        self._client = client = MlflowClient(tracking_uri=config.uri)
        if run.key is not None:
            self.key = run.key
            client.update_run(run.key, status="RUNNING")
            return
        found = client.get_experiment_by_name(config.experiment)
        experiment = client.create_experiment(config.experiment) if found is None else found.experiment_id
        self.key = client.create_run(experiment, run_name=run.folder.name).info.run_id
        rows = list(_flat(run.settings))
        for first in range(0, len(rows), _BATCH):
            client.log_batch(self.key, params=[Param(*row) for row in rows[first : first + _BATCH]])

    def add_numbers(self, numbers: Mapping[str, float], iteration: int) -> None:
        """Log a row; its step is the iteration."""
        now = int(1000.0 * time.time())
        metrics = [Metric(_name(key), each, now, iteration) for key, each in numbers.items()]
        self._client.log_batch(self.key, metrics=metrics)

    def add_file(self, path: Path, iteration: int) -> None:
        """Keep a file as an artifact; the page of MLflow shows videos and pages."""
        self._client.log_artifact(self.key, str(path))

    def close(self, ending: Ending) -> None:
        """End the run."""
        self._client.set_terminated(self.key, status=_STATES[ending])


def _flat(settings: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield each setting by its path, as text."""
    if isinstance(settings, Mapping):
        for key, value in settings.items():
            yield from _flat(value, f"{place}.{key}" if place else str(key))
    else:
        yield _name(place), str(settings)[:_TEXT_MAX]


def _name(key: str) -> str:
    """Return a name that MLflow takes."""
    return re.sub(r"[^\w\-. :/]", "_", key)
