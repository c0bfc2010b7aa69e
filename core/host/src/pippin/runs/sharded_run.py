"""A run whose worlds are split over processes of this machine, with the results of one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from pippin.config import SimulationConfig
from pippin.devices import find_device, kind_of
from pippin.errors import ConfigError, PippinError
from pippin.indices import chosen_worlds
from pippin.recording.config import RecorderConfig
from pippin.recording.joining import refuse_unjoinable
from pippin.sharding.shard import Shard, shards_of
from pippin.studies import RunFolder, RunProgress, stopped_between_steps
from pippin.workers.start import free_cores

from .decisions import recorded_by_default
from .growth import Growth
from .merging import merge_results, recorder_of
from .report.run_page import write_run
from .result import End, RunResult, result_of, summary_of
from .run_workers import RunWorkers, worlds_text

_PARTS = "shards"
"""Folder, in that of the run, for the files of the shards until they are merged."""


def process_count(text: str, config: SimulationConfig) -> int:
    """Return the number of processes that `--processes` asks for.

    `auto` is the number of cores that this process may use, or of GPUs, but at most the number of worlds.
    """
    if text == "auto":
        device, count = find_device(config.simulation.device), free_cores()
        if kind_of(device) == "cuda":
            import warp as wp

            count = wp.get_cuda_device_count() if config.simulation.device == "auto" else 1
        return min(count, config.scene.worlds)
    if not re.fullmatch(r"[1-9]\d*", text):
        raise ConfigError(f"processes: expected a whole number of at least 1, or auto, got {text!r}")
    return int(text)


def refuse_with_processes(config: SimulationConfig, options: Mapping[str, bool]) -> None:
    """Refuse what several processes cannot do: viewers, and options that are given."""
    for name, is_given in options.items():
        if is_given:
            raise ConfigError(f"{name}: requires a single process; leave it out, or the number of processes")
    if config.viewers:
        raise ConfigError(
            f"processes: viewers show a run in one process, and there is {', '.join(config.viewers)};"
            " add --no-viewers, or leave --processes out"
        )


def simulate_in_processes(
    config: SimulationConfig,
    processes: int,
    count: int,
    progress: RunProgress,
    *,
    name: str,
    out: Path | None = None,
    record_worlds: int | None = None,
) -> RunResult:
    """Simulate in several processes; arguments, result and run folder are those of `simulate`."""
    folder = RunFolder.chosen(out, name)
    growth = Growth(config)
    while True:
        with config.tree.placing():
            shards = _shards(growth.config, processes)
            recorded = _recorded(growth.config, record_worlds)
            files = _files(growth.config, recorded, shards, folder.path)
        may_grow = not growth.is_exhausted
        parts = folder.path / _PARTS
        arguments = [(each, growth.config, recorded, parts / str(each.index), may_grow) for each in shards]
        with RunWorkers(shards, _make_worker, arguments, progress) as workers:
            workers.prepare()
            folder.write_config(growth.config)  # so that a run that is killed can be viewed
            end = _advance(workers, count, progress, folder.path)
        if workers.sizes is None:
            break
        steps = max(each["steps"] for each in workers.results if each and each["sizes"])
        growth.grow(workers.sizes, steps * config.simulation.dt * config.simulation.decimation)
        progress.note(growth.notes[-1])
    with progress.phase("write"):
        results = {worlds_text(shard): each for shard, each in zip(shards, workers.results, strict=True) if each}
        facts = merge_results(results, growth.config, files, recorded, parts)
        if growth.notes:
            facts["notes"]["start"] = [*growth.notes, *facts["notes"].get("start", ())]
        facts["measured_seconds"] = progress.seconds.get("run", 0.0)
        config = next(iter(results.values()))["config"]
        summary = summary_of(facts, config, progress.seconds, end)
        write_run(folder, name, config, summary)
    return result_of(summary, folder.path, end)


def _make_worker(*arguments: Any) -> Any:
    from .run_shard_worker import RunShardWorker

    return RunShardWorker(*arguments)


def _advance(workers: RunWorkers, count: int, progress: RunProgress, folder: Path) -> End | None:
    try:
        with progress.phase("run"), stopped_between_steps(workers) as stop_if_asked:
            stopped = workers.run(count, stop_if_asked)
        if workers.sizes is None:
            workers.finish()
    except PippinError as error:
        workers.finish_others()
        if kept := _kept(folder):
            error.restate(lambda fault: f"{fault}; {kept}")
        raise
    except KeyboardInterrupt:  # the second one
        if kept := _kept(folder):
            progress.note(kept)
        raise
    return workers.failure or stopped


def _kept(folder: Path) -> str:
    parts = folder / _PARTS
    return f"what was recorded stays in '{parts}', and pippin.Run reads it" if parts.exists() else ""


def _recorded(config: SimulationConfig, record_worlds: int | None) -> dict[str, tuple[int, ...]]:
    recorded = {}
    for label, table in config.recorders.items():
        if not isinstance(table.config, RecorderConfig):
            raise ConfigError(f"recorders.{label}: {table.type!r} has no key 'worlds'; leave --processes out")
        worlds = chosen_worlds(table.config.worlds, config.scene.worlds, f"recorders.{label}.worlds")
        recorded[label] = tuple(worlds.tolist())
    if default := recorded_by_default(config, record_worlds):
        recorded["series"] = tuple(range(default))
    return recorded


def _files(
    config: SimulationConfig, recorded: Mapping[str, tuple[int, ...]], shards: Sequence[Shard], folder: Path
) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for label, worlds in recorded.items():
        kind, settings = recorder_of(config, label)
        files[label] = folder / (Path(settings.path).expanduser() if settings.path else f"{label}{kind.suffix}")
        is_split = sum(bool(shard.local(worlds)) for shard in shards) > 1
        try:
            refuse_unjoinable(kind.suffix, files[label], is_split=is_split)
        except ConfigError as error:
            error.restate(lambda fault, label=label: f"recorders.{label}.{fault}")
            raise
    for label, file in files.items():
        first = next(other for other, path in files.items() if path == file)
        if first != label:
            raise ConfigError(f"recorders.{label}.path: '{file}' is the file of recorders.{first} too; choose another")
    return files


def _shards(config: SimulationConfig, count: int) -> list[Shard]:
    recorders = {
        label: attrs.evolve(table, config=attrs.evolve(table.config, path=""))
        for label, table in config.recorders.items()
    }
    try:
        return shards_of(config.with_tables(recorders=recorders), count)
    except ConfigError as error:
        error.restate(lambda fault: re.sub(r"^shards:", "processes:", fault))
        raise
