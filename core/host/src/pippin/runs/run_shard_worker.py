"""The worker of a run in several processes: it simulates and records some of the worlds, a call at a time."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import attrs
from pippin.assembly.faults import with_determinism
from pippin.assembly.scene import contents_of_worlds
from pippin.config import SimulationConfig
from pippin.devices import kind_of
from pippin.errors import PippinError
from pippin.recording.channels import refuse_unlike
from pippin.recording.header import WholeRun
from pippin.recording.npz.config import NpzConfig
from pippin.recording.npz.file import NpzRecorder
from pippin.sharding.shard import Shard, renumber_worlds
from pippin.simulation import Simulation
from pippin.studies.progress import RunProgress, log_shown
from pippin.studies.summary import capacity_rows, component_notes

from .growth import sizes_for
from .loop import RunLoop, build, compile_kernels, take_first_step
from .simulate import facts_of


class RunShardWorker:
    """The run of a shard. The progress of its calls goes to the driver as events.

    A call that steps returns the control steps so far, and whether a failure ended the run of the shard early.

    Args:
        emit: Sends `("update", text)` and `("note", text)` to the driver.
        recorded: The recorded worlds of the run, by the label of the recorder.
        may_grow: Whether the run starts again if buffers that the host chose were full.

    Raises:
        ConfigError: A recorder records worlds with different contents, in any shards.
    """

    def __init__(
        self,
        emit: Callable[[Any], None],
        shard: Shard,
        config: SimulationConfig,
        recorded: Mapping[str, tuple[int, ...]],
        folder: Path,
        may_grow: bool,
    ) -> None:
        self._shard, self._config, self._recorded = shard, config, recorded
        self._folder, self._may_grow = folder, may_grow
        self._progress = _EmittedProgress(emit, shard.worlds.start)
        self._open = ExitStack()
        self._open.enter_context(log_shown(self._progress))
        contents = contents_of_worlds(config.scene)[1].tolist()
        with config.tree.placing():
            for label, worlds in recorded.items():
                refuse_unlike(contents, worlds, f"recorders.{label}.")

    def build(self) -> None:
        """Build the simulation."""
        default = _default_recorder(self._shard, self._config, self._recorded)
        simulation = self._open.enter_context(build(self._shard.config, self._progress, self._folder, default))
        config = self._config_of_run(simulation)
        for label, recorder in {**simulation.recorders, **simulation.plugins}.items():
            if label in self._recorded:
                worlds, first = self._recorded[label], self._shard.worlds.start
                recorder.whole_run = WholeRun(config=config, worlds=worlds, first_world=first)
        self._loop = RunLoop(simulation, self._progress)

    def compile(self) -> tuple[int, bool]:
        """Compile the kernels; those that another process has compiled are found."""
        return self._take(lambda loop: compile_kernels(loop.simulation, self._progress, loop.notes))

    def capture(self) -> tuple[int, bool]:
        """Take the first step, and capture it."""
        return self._take(lambda loop: take_first_step(loop.simulation))

    def advance(self, goal: int) -> tuple[int, bool]:
        """Take steps towards a control step for about the time between two looks, and check the results."""
        return self._take(lambda loop: loop.stride_to(goal))

    def finish(self) -> dict[str, Any]:
        """Close the simulation, which completes the recordings, and return what ran; see `facts_of`.

        `config` is the configuration of the run as a simulation of all worlds would have it, `end` what ended the run
        early, `trace` its traceback, and `sizes` are larger sizes of full buffers, with which the run may start again.
        """
        loop, simulation = self._loop, self._loop.simulation
        sizes = sizes_for(self._shard.config, simulation.capacities, loop.end) if self._may_grow else None
        if sizes is not None:  # enough for the worlds of all shards together
            of_world = {each.field for each in simulation.capacities if each.is_per_world or each.shared_by > 1}
            sizes = {key: size * (1 if key in of_world else self._shard.count) for key, size in sizes.items()}
        self._open.close()
        trace = None if loop.end is None else "".join(traceback.format_exception(loop.end))
        renumber = partial(renumber_worlds, first=self._shard.worlds.start)
        if isinstance(loop.end, PippinError):
            loop.end.restate(renumber)
        notes = component_notes(simulation, loop.notes)
        return {
            **facts_of(loop),
            "capacities": capacity_rows(simulation),
            "notes": {name: list(map(renumber, texts)) for name, texts in notes.items()},
            "iteration_limit_count": simulation.iteration_limit_count,
            "config": self._config_of_run(simulation),
            "end": loop.end,
            "trace": trace,
            "sizes": sizes,
        }

    def _take(self, take: Callable[[RunLoop], None]) -> tuple[int, bool]:
        if self._loop.end is None:
            self._loop.run(take)
        return self._loop.simulation.step_count, self._loop.end is not None

    def _config_of_run(self, simulation: Simulation) -> SimulationConfig:
        config, substeps = (
            with_determinism(self._config, kind_of(simulation.device)),
            simulation.config.simulation.substeps,
        )
        return attrs.evolve(config, simulation=attrs.evolve(config.simulation, substeps=substeps))


class _EmittedProgress(RunProgress):
    """Progress that the driver shows; its lines count worlds from the first one of the shard."""

    owns_process = True

    def __init__(self, emit: Callable[[Any], None], first: int) -> None:
        super().__init__()
        self._emit, self._first = emit, first

    def update(self, text: str) -> None:
        """Send what the phase does."""
        self._emit(("update", text))

    def note(self, text: str, *, once: str = "") -> None:
        """Send a line that stays; the driver prints each once."""
        self._emit(("note", renumber_worlds(text, self._first)))


def _default_recorder(
    shard: Shard, config: SimulationConfig, recorded: Mapping[str, tuple[int, ...]]
) -> dict[str, NpzRecorder]:
    chosen = {label: shard.local(worlds) for label, worlds in recorded.items() if label not in config.recorders}
    return {label: NpzRecorder(NpzConfig(worlds=own)) for label, own in chosen.items() if own}
