"""Playback of a recording: the state of a simulation at the time of a row, in place of a running simulation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import newton
import numpy as np
from pippin import ConfigError, Run, Simulation, SimulationConfig
from pippin.arrays import on_host, present
from pippin.assembly import build_poses
from pippin.matter import OF_BODIES, OF_PARTICLES, Matter
from pippin.recording import Recording
from pippin.viewing import ViewerConfig

_POSES = ("body_q", "joint_q")
"""Channels with the poses of the bodies, the most direct one first."""

_STARTS = {"joint_q": "joint_coord", "body_q": "body", "particle_q": "particle"}
"""What the rows of a channel belong to."""

_OBJECT = re.compile("objects/(.*)/q")
"""Channels with the particles of an object of matter, or the segments of a cable, by its label."""


_Part: TypeAlias = tuple[str, str, list[np.ndarray]]
"""A channel, the array of the state that it is written to, and the elements of this array in each recorded world."""


def find_poses(recordings: Mapping[str, Recording], folder: Path) -> Recording:
    """Return the recording of a run folder that has the poses of the bodies; else, the positions of particles."""
    filled = [recording for recording in recordings.values() if len(recording.time)]
    for name in (*_POSES, "particle_q"):
        for recording in filled:
            if name in recording:
                return recording
    for recording in filled:
        if any(map(_OBJECT.fullmatch, recording)):
            return recording
    raise ConfigError(
        f"{folder}: no recording with rows of {' or '.join(_POSES)}, or of matter, particle_q or objects/LABEL/q;"
        " record one of them"
    )


def fits(model: newton.Model, recording: Recording) -> bool:
    """Tell whether the worlds of a model have what the rows of a recording have."""
    for name, starts in _STARTS.items():
        if name in recording:
            firsts = on_host(getattr(model, f"{starts}_world_start"))
            if max(recording.worlds) >= model.world_count or {len(recording[name][0][0])} != {
                int(firsts[world + 1] - firsts[world]) for world in recording.worlds
            }:
                return False
    return all(len(recording[name][0][0]) == len(elements[0]) for name, _, elements in _objects(model, recording))


def _elements(model: newton.Model, recording: Recording, name: str) -> list[np.ndarray]:
    firsts = on_host(getattr(model, f"{_STARTS[name]}_world_start"))
    return [firsts[world] + np.arange(len(recording[name][0][0])) for world in recording.worlds]


def _objects(model: newton.Model, recording: Recording) -> Iterator[_Part]:
    for kinds, array in ((OF_PARTICLES, "particle_q"), (OF_BODIES, "body_q")):
        matter = Matter.of(model, *kinds)
        rows = {(label.strip("/"), world): row for (label, world), row in matter.row_of.items()}
        for name in recording:
            found = _OBJECT.fullmatch(name)
            own = (
                [] if found is None else [rows[key] for world in recording.worlds if (key := (found[1], world)) in rows]
            )
            if len(own) == len(recording.worlds):
                yield name, array, [matter.starts[row] + np.arange(matter.counts[row]) for row in own]


class Playback:
    """A simulation that shows what was recorded, as viewers see it; it takes no steps.

    Args:
        simulation: The simulation of the same configuration, or its poses alone; its state is overwritten.
        recording: The recording, which has `body_q` or `joint_q`, `particle_q` or `objects/LABEL/q`.
        config: The settings of a viewer: the worlds to show, by default the first recorded ones.

    Raises:
        ConfigError: A world does not exist, or was not recorded.
    """

    contacts = observables = first_diverged_step = program = None
    is_waiting = True

    def __init__(self, simulation: Any, recording: Recording, config: ViewerConfig) -> None:
        self._simulation, self._recording = simulation, recording
        self.config, self.model, self.device = simulation.config, simulation.model, simulation.device
        #: Length of a control step [s].
        self.control_dt: float = simulation.control_dt
        #: The number of worlds.
        self.world_count: int = simulation.world_count
        #: The shown worlds.
        self.worlds: list[int] = list(recording.worlds[: config.worlds_max])
        if config.worlds is not None:
            self.worlds = config.worlds_of(simulation.world_count).tolist()
        for world in self.worlds:
            if world not in recording.worlds:
                raise ConfigError(f"worlds: world {world} is not in '{recording.path}'; recorded: {recording.worlds}")
        #: Simulated time of each row [s], shape [rows].
        self.times = recording.time
        #: The row that is shown.
        self.row = -1
        poses = [name for name in _POSES if name in recording][:1]
        self._has_joints = poses == ["joint_q"]
        channels = [*poses, *(["particle_q"] if "particle_q" in recording else [])]
        self._channels = [(name, name, _elements(self.model, recording, name)) for name in channels]
        self._objects = list(_objects(self.model, recording))
        self.seek(float(self.times[0]))

    @property
    def state(self) -> newton.State:
        """The state at the row."""
        return self._simulation.state

    @property
    def time(self) -> float:
        """Simulated time of the row [s]."""
        return float(self.times[self.row])

    @property
    def step_count(self) -> int:
        """Control steps until the row."""
        return round(self.time / self.control_dt)

    @property
    def is_at_end(self) -> bool:
        """Whether the row is the last one."""
        return self.row == len(self.times) - 1

    def seek(self, time: float) -> None:
        """Go to the last row that is not later than a time [s], or to the first one."""
        row = max(int(np.searchsorted(self.times, time + 1e-9, side="right")) - 1, 0)
        if row == self.row:
            return
        self.row = row
        self._write(self._channels)
        if self._has_joints:
            state = self._simulation.state
            newton.eval_fk(self.model, present(state.joint_q), present(state.joint_qd), state)
        self._write(self._objects)

    def forward(self) -> None:
        """Go to the next row."""
        self.seek(float(self.times[min(self.row + 1, len(self.times) - 1)]))

    def reset(self, worlds: Sequence[int] | np.ndarray | None = None) -> None:
        """Go to the first row."""
        self.seek(float(self.times[0]))

    def _write(self, parts: Sequence[_Part]) -> None:
        for name, array, elements in parts:
            target = getattr(self._simulation.state, array)
            values = on_host(target).copy()
            for own, recorded in zip(elements, np.asarray(self._recording[name][self.row]), strict=True):
                values[own] = recorded
            target.assign(values)


ViewedSimulation: TypeAlias = Simulation | Playback
"""What a page shows: a simulation, or the playback of a recording in its place."""


@contextmanager
def played_back(run: Run, config: SimulationConfig, settings: ViewerConfig) -> Iterator[Playback]:
    """Yield the playback of a run, and close it afterwards.

    Args:
        run: The run.
        config: Its configuration.
        settings: The settings of a viewer, with the worlds to show.

    Raises:
        ConfigError: Nothing that can be shown was recorded, or a world was not.
    """
    with run, ExitStack() as opened:
        recording = find_poses(run.recordings, run.path)
        simulation: Any = build_poses(config, max(recording.worlds) + 1)
        if not fits(simulation.model, recording):  # its solver or an actuator changed the bodies
            simulation = opened.enter_context(Simulation(config.unobserved()))
        yield Playback(simulation, recording, settings)
