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
from pippin.recording.npz.file import NpzRecorder, spool_of
from pippin.recording.recorder import Recorder
from pippin.studies.summary import with_limits

_UNIONS = ("matter", "plugins", "versions", "hardware")


def merge_results(
    results: Mapping[str, Mapping[str, Any]],
    config: SimulationConfig,
    files: Mapping[str, Path],
    recorded: Mapping[str, tuple[int, ...]],
    parts_folder: Path,
) -> dict[str, Any]:
    """Make one file of the files of each recorder, and return what ran, for `summary_of`.

    The results are by the workers' worlds in words; `files` and `recorded` have the file and the recorded worlds of the
    run by the label of the recorder; the files of the workers are in `parts_folder`.
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
    scores = [each["task"] for each in results.values() if each["task"] is not None]
    facts["task"] = sum(scores[1:], start=scores[0]) if scores else None
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
    for part in parts:
        notes = {name: [text.replace(str(part), str(target)) for text in texts] for name, texts in notes.items()}
    return notes


def _division(counts: Sequence[int]) -> str:
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


def merged(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return program, notes, imports, buffers, matter, plugins, versions and hardware of all worlds, from each
    process's own.

    `capacities` have `is_per_world` too, and `notes` leave out the limits of iterations, which `iteration_limit_count`
    counts.
    """
    ran = list(parts.values())
    limits = sum(each["iteration_limit_count"] for each in ran)
    return {
        "program": {
            **ran[0]["program"],
            "captured": all(each["program"]["captured"] for each in ran),
            "eager_reasons": _union([each["program"]["eager_reasons"] for each in ran]),
        },
        "notes": with_limits(_notes({worlds: each["notes"] for worlds, each in parts.items()}), limits),
        "imports": _union([each["imports"] for each in ran]),
        "capacities": _capacities([each["capacities"] for each in ran]),
        **{name: _union([each[name] for each in ran]) for name in _UNIONS},
    }


def _notes(parts: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, Sequence[str]]:
    """Return the notes by component, each once; worlds stand before a note that is not about all that have one."""
    found: dict[str, list[str]] = {}
    for name in _union(list(parts.values())):
        sayers = {worlds: notes[name] for worlds, notes in parts.items() if name in notes}
        for text in dict.fromkeys(text for texts in sayers.values() for text in texts):
            worlds = [each for each, texts in sayers.items() if text in texts]
            is_of_all = len(worlds) == len(parts)
            found.setdefault(name, []).append(text if is_of_all else f"{', '.join(worlds)}: {text}")
    return dict(found)


def _capacities(parts: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return the buffers of all processes together; of those with room for each world, the smallest."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for rows in parts:
        for row in rows:
            found.setdefault((row["field"], row["holds"]), []).append(row)
    buffers = []
    for (field, holds), rows in found.items():
        together = min if rows[0]["is_per_world"] else sum
        buffers.append({"field": field, "holds": holds, "allocated": together(row["allocated"] for row in rows)})
    return buffers


def _union(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the entries of all tables; of those with one name, the first."""
    found: dict[str, Any] = {}
    for table in tables:
        for name, value in table.items():
            found.setdefault(name, value)
    return found
