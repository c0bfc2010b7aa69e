"""Logs in recordings of Pippin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pippin import ConfigError
from pippin.recording import Recording

from .configs import RecordingLogConfig

_SIGNALS = {"position": "joint_q", "velocity": "joint_qd"}


class RecordingReader:
    """Reads each world of a recording; the targets of all its actuators are the commands."""

    form = "a recording has the channels 'joint_q' and 'actuators/LABEL/position_targets', and perhaps 'joint_qd'"

    def __init__(self, config: RecordingLogConfig) -> None:
        pass

    def read(self, path: Path, targets: str) -> Iterator[Mapping[str, Any]]:
        """Yield the arrays of each world."""
        with Recording(path) as recording:
            for column, world in enumerate(recording.worlds):
                yield {"name": f"world {world}", **_of_world(recording, column, targets)}


def _of_world(recording: Recording, column: int, targets: str) -> dict[str, Any]:
    channels = [name for name in recording if name.startswith("actuators/") and name.endswith(f"/{targets}")]
    commands = {
        label: recording[name].values[:, column, number]
        for name in channels
        for number, label in enumerate(recording[name].labels)
    }
    if not commands or "joint_q" not in recording:
        raise ConfigError(
            f"fit.logs: '{recording.path}' needs the channels 'joint_q' and 'actuators/LABEL/{targets}'; record them"
        )
    if recording.header.period > 1.5 * recording.header.control_dt:
        raise ConfigError(
            f"fit.logs: '{recording.path}' has a row each {recording.header.period:g} s, and commands came each"
            f" {recording.header.control_dt:g} s; record without 'period'"
        )
    # A row has the commands that led to its state: later ones are in the next one.
    found: dict[str, Any] = {"joints": list(commands), "command": np.stack([*commands.values()], axis=1)[1:]}
    found["time"] = recording.time[:-1]
    for kind, name in _SIGNALS.items():
        if name in recording:
            labels = recording[name].labels
            columns = [labels.index(label) for label in commands]
            found[kind] = recording[name].values[:-1, column, columns]
    return found
