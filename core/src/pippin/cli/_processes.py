"""A run whose worlds are split over processes of this machine, with the results of one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from pippin.config import ComponentConfig, SimulationConfig
from pippin.devices import find_device, warp_quiet
from pippin.errors import ConfigError, PippinError
from pippin.indices import chosen_worlds
from pippin.recording.config import RecorderConfig
from pippin.recording.joining import refuse_unjoinable
from pippin.runs.decisions import recorded_by_default
from pippin.runs.growth import Growth
from pippin.runs.interrupt import stopped_between_steps
from pippin.runs.progress import RunProgress
from pippin.runs.result import End, RunResult, summary_of
from pippin.sharding.shard import Shard, shards_of
from pippin.workers import free_cores

from ._crew import Crew
from ._joining import joined, recorder_of
from ._shard import Task

__all__ = ["process_count", "refuse_with_processes", "simulate_in_processes"]


def process_count(given: str, config: SimulationConfig) -> int:
    """Return the number of processes that `--processes` asks for.

    `auto` is the number of cores that this process may use, or of GPUs, but at most the number of worlds.

    Raises:
        ConfigError: It is neither a number of at least 1 nor `auto`.
    """
    if given == "auto":
        with warp_quiet():
            device = find_device(config.simulation.device)
        return min(_gpus(config) if device.is_cuda else free_cores(), config.scene.worlds)
    if not re.fullmatch(r"[1-9]\d*", given):
        raise ConfigError(f"--processes: expected a whole number of at least 1, or auto, got {given!r}")
    return int(given)


def _gpus(config: SimulationConfig) -> int:
    import warp as wp

    return wp.get_cuda_device_count() if config.simulation.device == "auto" else 1


def refuse_with_processes(config: SimulationConfig, options: Mapping[str, bool]) -> None:
    """Refuse what several processes cannot do.

    Args:
        config: The configuration.
        options: Whether an option is given, by its name.

    Raises:
        ConfigError: Names the option or the viewers.
    """
    for name, is_given in options.items():
        if is_given:
            raise ConfigError(f"--processes: {name} is of one process; leave one of the two out")
    if config.viewers:
        raise ConfigError(
            f"--processes: viewers show a run in one process, and there is {', '.join(config.viewers)};"
            " add --no-viewers, or leave --processes out"
        )


def simulate_in_processes(
    file: Path,
    config: SimulationConfig,
    processes: int,
    count: int,
    progress: RunProgress,
    *,
    out: Path | None,
    record_worlds: int | None,
) -> RunResult:
    """Simulate in several processes; arguments and result are those of `simulate`, and so is the run folder.

    Raises:
        ConfigError: The run cannot be split.
        SimulationError: A process was lost.
    """
    from pippin.runs.folder import RunFolder

    folder = RunFolder.named_after(file) if out is None else RunFolder(out)
    growth = Growth(config)
    while True:
        with config.tree.placing():
            shards = _shards(growth.config, processes)
            task = _task(growth.config, shards, folder.path, record_worlds, may_grow=not growth.is_exhausted)
        with Crew(shards, task, progress) as crew:
            end = _advance(crew, count, progress, task)
        if crew.sizes is None:
            break
        growth.grow(crew.sizes, _time(crew, config))
        progress.note(growth.notes[-1])
    with progress.phase("write"):
        facts, config = joined(crew.members, task)
        facts["notes"] = _with_start(facts["notes"], growth.notes)
        facts["measured_seconds"] = progress.seconds.get("run", 0.0)
        summary = summary_of(facts, config, progress.seconds, end)
        folder.write(str(file), config, summary)
    return RunResult.of(summary, folder.path, end)


def _advance(crew: Crew, count: int, progress: RunProgress, task: Task) -> End | None:
    """Step to the end, and return what ended the run early, if anything."""
    crew.prepare()
    try:
        with progress.phase("run"), stopped_between_steps(crew) as stop_if_asked:
            stopped = crew.run(count, stop_if_asked)
        if crew.sizes is None:
            crew.finish()
    except PippinError as error:
        crew.finish_others()
        if kept := _kept(task):
            error.restate(lambda fault: f"{fault}; {kept}")
        raise
    except KeyboardInterrupt:  # the second one
        if kept := _kept(task):
            progress.note(kept)
        raise
    return crew.failure or stopped


def _kept(task: Task) -> str:
    """Return where recordings stay that were not joined; nothing if there are none."""
    parts = task.folder / "shards"
    return f"what was recorded stays in '{parts}', and pippin.open_run reads it" if parts.exists() else ""


def _task(
    config: SimulationConfig, shards: Sequence[Shard], folder: Path, record_worlds: int | None, *, may_grow: bool
) -> Task:
    """Return the task of all shards.

    Raises:
        ConfigError: The files that shards record cannot become those of the run.
    """
    worlds_of = {label: _worlds_of(table, config, label) for label, table in config.recorders.items()}
    if default := recorded_by_default(config, record_worlds):
        worlds_of["series"] = tuple(range(default))
    files: dict[str, Path] = {}
    for label, worlds in worlds_of.items():
        kind, settings = recorder_of(config, label)
        files[label] = folder / (Path(settings.path).expanduser() if settings.path else f"{label}{kind.suffix}")
        try:
            refuse_unjoinable(
                kind.suffix, files[label], is_split=sum(bool(shard.local(worlds)) for shard in shards) > 1
            )
        except ConfigError as error:
            error.restate(lambda fault, label=label: f"recorders.{label}.{fault}")
            raise
    for label, file in files.items():
        first = next(other for other, path in files.items() if path == file)
        if first != label:
            raise ConfigError(f"recorders.{label}.path: '{file}' is the file of recorders.{first} too; choose another")
    return Task(config=config, folder=folder, worlds_of=worlds_of, files=files, may_grow=may_grow)


def _worlds_of(table: ComponentConfig, config: SimulationConfig, label: str) -> tuple[int, ...]:
    if not isinstance(table.config, RecorderConfig):
        raise ConfigError(f"recorders.{label}: {table.type!r} has no key 'worlds'; leave --processes out")
    return tuple(chosen_worlds(table.config.worlds, config.scene.worlds, f"recorders.{label}.worlds").tolist())


def _shards(config: SimulationConfig, count: int) -> list[Shard]:
    """Return the shards; each recorder writes a file of its label, wherever that of the run will be."""
    recorders = {
        label: attrs.evolve(table, config=attrs.evolve(table.config, path=""))
        for label, table in config.recorders.items()
    }
    try:
        with warp_quiet():
            return shards_of(attrs.evolve(config, recorders=recorders), count)
    except ConfigError as error:
        error.restate(lambda fault: re.sub(r"^shards:", "--processes:", fault))
        raise


def _time(crew: Crew, config: SimulationConfig) -> float:
    """Return the time at which a buffer was full [s]."""
    step = config.simulation
    steps = max(each.step for each in crew.members if each.results and each.results["sizes"])
    return steps * step.dt * step.decimation


def _with_start(notes: Mapping[str, Any], restarts: list[str]) -> dict[str, Any]:
    return {**notes, "start": [*restarts, *notes.get("start", ())]} if restarts else dict(notes)
