"""Joined: what the processes of a run leave becomes what one process leaves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pippin.catalog.entries import Catalog
from pippin.components.contract import load_plugin
from pippin.config import SimulationConfig
from pippin.recording.joining import join
from pippin.recording.npz.config import NpzConfig
from pippin.recording.npz.file import spool_of
from pippin.recording.npz.recorder import NpzRecorder
from pippin.recording.recorder import Recorder
from pippin.runs.merged_summary import merged

from ._crew import Member
from ._shard import Task

__all__ = ["joined", "recorder_of"]


def joined(members: Sequence[Member], task: Task) -> tuple[dict[str, Any], SimulationConfig]:
    """Make one file of the files of each recorder, and return what ran, for `summary_of`, and the configuration.

    Args:
        members: The processes, all with results.
        task: Their task.
    """
    results = {member.worlds: member.results for member in members if member.results is not None}
    ran = merged(results)
    recordings: dict[str, Any] = {}
    kept: set[Path] = set()
    for label, target in task.files.items():
        recorded = [each["recordings"][label] for each in results.values() if label in each["recordings"]]
        parts, rows = [Path(each["file"]) for each in recorded], min(each["rows"] for each in recorded)
        file, note = target, None
        if rows:  # a process that failed in its first step left no file
            recorder, settings = recorder_of(task.config, label)
            file, note = join(recorder(settings), parts, target)
        recordings[label] = {"file": str(file), "worlds": list(task.worlds_of[label]), "rows": rows}
        ran["notes"] = _renamed(ran["notes"], parts, target)
        if note is not None:
            ran["notes"].setdefault(f"recorders:{label}", []).append(note)
            kept.update(path for part in parts for path in (part, spool_of(part)))
    ran["notes"] = {"processes": [_division(members), *_rest(task.folder / "shards", kept)], **ran["notes"]}
    steps = min(each["steps"] for each in results.values())
    facts = {"worlds": task.config.scene.worlds, "first_step": 0, "steps": steps, "measured_steps": max(steps - 1, 0)}
    config = next(iter(results.values()))["config"]
    return {**facts, "recordings": recordings, **ran}, config


def recorder_of(config: SimulationConfig, label: str) -> tuple[type[Recorder], Any]:
    """Return class and settings of a recorder; the one of a run whose file has none writes npz."""
    table = config.recorders.get(label)
    if table is None:
        return NpzRecorder, NpzConfig()
    catalog = config.catalog.restrict(Catalog.installed())
    return load_plugin(catalog.find("recorder", table.type)), table.config


def _renamed(notes: dict[str, Any], parts: Sequence[Path], target: Path) -> dict[str, Any]:
    """Return the notes with the file of the run in place of those of its parts."""
    for part in parts:
        notes = {name: [text.replace(str(part), str(target)) for text in texts] for name, texts in notes.items()}
    return notes


def _division(members: Sequence[Member]) -> str:
    sizes = list(dict.fromkeys(len(member.shard.worlds) for member in members))
    worlds = "1 world" if sizes == [1] else f"{' or '.join(map(str, sizes))} worlds"
    return f"{len(members)}, with {worlds} each"


def _rest(folder: Path, kept: Collection[Path]) -> Iterator[str]:
    """Remove the folders of the processes that are empty; yield a note if plugins left files in others."""
    for path in [*sorted(folder.rglob("*"), reverse=True), folder]:
        with suppress(OSError):
            path.rmdir()
    if files := [path for path in sorted(folder.rglob("*")) if path.is_file() and path not in kept]:
        yield f"plugins of each process left files in '{folder}', such as '{files[0]}'"
