"""Joined: what the processes of a run leave becomes what one process leaves."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pippin.analysis.merged_summary import merged
from pippin.catalog.entries import Catalog
from pippin.components.contract import load_plugin
from pippin.config import SimulationConfig
from pippin.recording.joining import join
from pippin.recording.npz import NpzRecorder
from pippin.recording.recorder import Recorder

from ._crew import Member
from ._shard import Task

__all__ = ["joined"]


def joined(members: Sequence[Member], task: Task) -> tuple[dict[str, Any], SimulationConfig]:
    """Make one file of the files of each recorder, and return what ran, for `summary_of`, and the configuration.

    Args:
        members: The processes, all with results.
        task: Their task.
    """
    results = {member.worlds: member.results for member in members if member.results is not None}
    ran = merged(results)
    recordings: dict[str, Any] = {}
    for label in task.worlds_of:
        recorded = [each["recordings"][label] for each in results.values() if label in each["recordings"]]
        parts, rows = [Path(each["file"]) for each in recorded], min(each["rows"] for each in recorded)
        target, note = task.file_of(label, parts[0].suffix), None
        file = target
        if rows:  # a process that failed in its first step left no file
            file, note = join(_recorder(label, task), parts, target)
        recordings[label] = {"file": str(file), "worlds": list(task.worlds_of[label]), "rows": rows}
        ran["notes"] = _renamed(ran["notes"], parts, target)
        if note is not None:
            ran["notes"].setdefault(f"recorders:{label}", []).append(note)
    _remove_empty(task.folder / "shards")
    if (rest := task.folder / "shards").exists():
        ran["notes"].setdefault("processes", []).append(f"files of each process are in '{rest}'")
    steps = min(each["steps"] for each in results.values())
    facts = {"worlds": task.config.scene.worlds, "first_step": 0, "steps": steps, "seconds_waited": 0.0}
    config = next(iter(results.values()))["config"]
    return {**facts, "recordings": recordings, **ran}, config


def _recorder(label: str, task: Task) -> Recorder:
    table = task.config.recorders.get(label)
    if table is None:
        return NpzRecorder(NpzRecorder.Config())
    catalog = task.config.catalog.restrict(Catalog.installed())
    return load_plugin(catalog.find("recorder", table.type))(table.config)


def _renamed(notes: dict[str, Any], parts: Sequence[Path], target: Path) -> dict[str, Any]:
    """Return the notes with the file of the run in place of those of its parts."""
    for part in parts:
        notes = {name: [text.replace(str(part), str(target)) for text in texts] for name, texts in notes.items()}
    return notes


def _remove_empty(folder: Path) -> None:
    """Remove a folder and those in it as far as they have no files."""
    for path in sorted(folder.rglob("*"), reverse=True):
        with suppress(OSError):
            path.rmdir()
    with suppress(OSError):
        folder.rmdir()
