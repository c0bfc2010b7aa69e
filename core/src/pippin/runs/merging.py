"""Merging of what the processes of a run leave: one file for each recorder, and one summary."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
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

from .merged_summary import merged


def merge_results(
    results: Mapping[str, Mapping[str, Any]],
    config: SimulationConfig,
    files: Mapping[str, Path],
    recorded: Mapping[str, tuple[int, ...]],
    parts_folder: Path,
) -> dict[str, Any]:
    """Make one file of the files of each recorder, and return what ran, for `summary_of`.

    Args:
        results: The results of the workers, by their worlds in words.
        config: The configuration of the run.
        files: The file of the run for each recorder, by its label.
        recorded: The recorded worlds of the run, likewise.
        parts_folder: Folder with the files of the workers.
    """
    facts = merged(results)
    recordings: dict[str, Any] = {}
    kept: set[Path] = set()
    for label, target in files.items():
        own = [each["recordings"][label] for each in results.values() if label in each["recordings"]]
        parts, rows = [Path(each["file"]) for each in own], min(each["rows"] for each in own)
        file, note = target, None
        if rows:  # a process that failed in its first step left no file
            recorder, settings = recorder_of(config, label)
            file, note = join(recorder(settings), parts, target)
        recordings[label] = {"file": str(file), "worlds": list(recorded[label]), "rows": rows}
        facts["notes"] = _with_file(facts["notes"], parts, target)
        if note is not None:
            facts["notes"].setdefault(f"recorders:{label}", []).append(note)
            kept.update(path for part in parts for path in (part, spool_of(part)))
    sizes = [each["worlds"] for each in results.values()]
    facts["notes"] = {"processes": [_division(sizes), *_rest(parts_folder, kept)], **facts["notes"]}
    steps = min(each["steps"] for each in results.values())
    run = {"worlds": config.scene.worlds, "first_step": 0, "steps": steps, "measured_steps": max(steps - 1, 0)}
    return {**run, "recordings": recordings, **facts}


def recorder_of(config: SimulationConfig, label: str) -> tuple[type[Recorder], Any]:
    """Return class and settings of a recorder; the one of a run whose file has none writes npz."""
    table = config.recorders.get(label)
    if table is None:
        return NpzRecorder, NpzConfig()
    catalog = config.catalog.restrict(Catalog.installed())
    return load_plugin(catalog.find("recorder", table.type)), table.config


def _with_file(notes: dict[str, Any], parts: Sequence[Path], target: Path) -> dict[str, Any]:
    """Return the notes with the file of the run in place of those of its parts."""
    for part in parts:
        notes = {name: [text.replace(str(part), str(target)) for text in texts] for name, texts in notes.items()}
    return notes


def _division(counts: Sequence[int]) -> str:
    """Return a note on the numbers of worlds of the processes."""
    sizes = list(dict.fromkeys(counts))
    worlds = "1 world" if sizes == [1] else f"{' or '.join(map(str, sizes))} worlds"
    return f"{len(counts)}, with {worlds} each"


def _rest(folder: Path, kept: Collection[Path]) -> Iterator[str]:
    """Remove the folders of the processes that are empty; yield a note if plugins left files in others."""
    for path in [*sorted(folder.rglob("*"), reverse=True), folder]:
        with suppress(OSError):
            path.rmdir()
    if files := [path for path in sorted(folder.rglob("*")) if path.is_file() and path not in kept]:
        yield f"plugins of each process left files in '{folder}', such as '{files[0]}'"
