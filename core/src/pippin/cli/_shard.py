"""A shard of `pippin run --processes`: some of the worlds, simulated and recorded in a process of their own."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from pippin.config import SimulationConfig
from pippin.errors import PippinError
from pippin.runs.decisions import import_newton
from pippin.runs.growth import sizes_for
from pippin.runs.progress import RunProgress
from pippin.runs.summary import capacity_rows, component_notes
from pippin.sharding.shard import Shard
from pippin.sharding.world_numbers import renumber_worlds
from pippin.simulation import Simulation

from ._progress import log_shown

if TYPE_CHECKING:
    from pippin.recording.npz.recorder import NpzRecorder
    from pippin.runs.loop import RunLoop

__all__ = ["Task", "simulate_shard"]


@attrs.frozen(kw_only=True, eq=False)
class Task:
    """Facts of a run that all its shards need."""

    config: SimulationConfig
    """Configuration of the run."""

    folder: Path
    """The run folder."""

    worlds_of: Mapping[str, tuple[int, ...]]
    """The recorded worlds of the run, by the label of the recorder."""

    files: Mapping[str, Path]
    """The file of the run that the files of the shards become, by the label of their recorder."""

    may_grow: bool
    """Whether the run starts again if buffers that the host chose were full."""

    def part_folder(self, shard: Shard) -> Path:
        """Return the folder for the files of a shard."""
        return self.folder / "shards" / str(shard.index)


def simulate_shard(connection: Connection, shard: Shard, task: Task) -> None:
    """Simulate some worlds as the caller says, and send what ran.

    It receives one message when it may compile, then steps to continue to, then None. It sends `("done", phase)`;
    `("at", step, goal)` with the goal if it waits there; `("doing", phase, text)` and `("note", text)` for the
    progress; and at the end `("ended", results)`.
    """
    progress = _SentProgress(connection, shard)
    with log_shown(progress):
        import_newton(shard.config, progress)
        with task.config.tree.placing():
            _refuse_unlike(task)
        try:
            results = _simulate(connection, shard, task, progress)
        except PippinError as error:
            error.restate(partial(renumber_worlds, first=shard.worlds.start))
            raise
        connection.send(("ended", results))


def _simulate(connection: Connection, shard: Shard, task: Task, progress: RunProgress) -> dict[str, Any]:
    from pippin.runs.loop import RunLoop
    from pippin.runs.start import build

    def take(loop: RunLoop) -> None:
        loop.begin()
        _step_to_goals(loop, connection)

    default = _default_recorder(shard, task)
    with build(shard.config, progress, task.part_folder(shard), default) as simulation:
        _place_recordings(simulation, shard, task)
        connection.recv()
        loop = RunLoop(simulation, progress)
        loop.run(take)
        sizes = sizes_for(shard.config, simulation.capacities, loop.end) if task.may_grow else None
    of_run = None if sizes is None else _of_run(sizes, simulation, shard)
    return {**_ran(loop, shard), "config": _config(simulation, task), "sizes": of_run}


def _step_to_goals(loop: RunLoop, connection: Connection) -> None:
    """Step to each goal that comes, and look for another one a few times a second; wait at a goal for the next."""
    goal, simulation = connection.recv(), loop.simulation
    while goal is not None:
        if simulation.step_count >= goal:
            connection.send(("at", simulation.step_count, goal))
            goal = connection.recv()
            continue
        loop.stride_to(goal)
        connection.send(("at", simulation.step_count, None))
        while connection.poll():
            goal = connection.recv()


def _default_recorder(shard: Shard, task: Task) -> dict[str, NpzRecorder]:
    """Return the recorder of a run whose file has none, if it records worlds of the shard."""
    from pippin.recording.npz.config import NpzConfig
    from pippin.recording.npz.recorder import NpzRecorder

    chosen = {
        label: shard.local(worlds) for label, worlds in task.worlds_of.items() if label not in task.config.recorders
    }
    return {label: NpzRecorder(NpzConfig(worlds=own)) for label, own in chosen.items() if own}


def _place_recordings(simulation: Simulation, shard: Shard, task: Task) -> None:
    """Tell each recorder of which recording its own is a part."""
    from pippin.recording.whole_run import WholeRun

    config = _config(simulation, task)
    for label, recorder in {**simulation.recorders, **simulation.plugins}.items():
        if label in task.worlds_of:
            recorder.whole_run = WholeRun(config=config, worlds=task.worlds_of[label], first_world=shard.worlds.start)


def _config(simulation: Simulation, task: Task) -> SimulationConfig:
    """Return the configuration of the run as a simulation of all worlds would have it."""
    from pippin.assembly.determinism import with_determinism
    from pippin.devices import kind_of

    return with_determinism(task.config, kind_of(simulation.device))


def _refuse_unlike(task: Task) -> None:
    """Refuse a recorder of worlds with different contents, in any shards."""
    from pippin.assembly.worlds import assets_of_worlds
    from pippin.recording.channels import refuse_unlike

    contents = assets_of_worlds(task.config.scene)
    numbers = {assets: number for number, assets in enumerate(dict.fromkeys(contents))}
    for label, worlds in task.worlds_of.items():
        refuse_unlike([numbers[assets] for assets in contents], worlds, f"recorders.{label}.")


def _of_run(sizes: dict[str, int], simulation: Simulation, shard: Shard) -> dict[str, int]:
    """Return sizes of buffers that are enough for the worlds of all shards together."""
    of_world = {each.field for each in simulation.capacities if each.is_per_world or each.shared_by > 1}
    return {field: size if field in of_world else size * shard.count for field, size in sizes.items()}


def _ran(loop: RunLoop, shard: Shard) -> dict[str, Any]:
    from pippin.runs.simulate import facts_of

    simulation, end = loop.simulation, loop.end
    say = partial(renumber_worlds, first=shard.worlds.start)
    notes = component_notes(simulation, loop.notes)
    if isinstance(end, PippinError):
        end.restate(say)
    return {
        **facts_of(loop),
        "capacities": capacity_rows(simulation),
        "notes": {name: list(map(say, texts)) for name, texts in notes.items()},
        "iteration_limit_count": simulation.iteration_limit_count,
        "end": end,
        "trace": None if end is None else "".join(traceback.format_exception(end)),
    }


class _SentProgress(RunProgress):
    """Progress that the caller shows: each end of a phase is a message, and so is each line.

    Args:
        connection: Where messages go.
        shard: The shard, whose worlds the lines name.
    """

    owns_process = True

    def __init__(self, connection: Connection, shard: Shard) -> None:
        super().__init__()
        self._connection, self._first, self._name = connection, shard.worlds.start, ""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Send the name at the end of the block, if it raises no error."""
        self._name = name
        yield
        self._connection.send(("done", name))

    def update(self, text: str) -> None:
        """Send what the phase does."""
        self._connection.send(("doing", self._name, text))

    def note(self, text: str, *, once: str = "") -> None:
        """Send a line that stays; the caller prints each once."""
        self._connection.send(("note", renumber_worlds(text, self._first)))
