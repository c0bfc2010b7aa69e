"""Replays of demonstrations: the actions of recorded episodes in a simulation, and how far it goes from them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin import ConfigError, Host, Simulation, SimulationConfig, hookimpl, load
from pippin.arrays import on_host, present
from pippin.motions import undriven

from pippin_record.demonstrations.reading import Demonstration, Demonstrations, read_demonstrations
from pippin_record.kernels import write_rows

_TARGETS = "/position_targets"


@attrs.frozen(kw_only=True, eq=False)
class ReplayedEpisode:
    """An episode that was simulated again: its distance from what was recorded."""

    index: int
    """Number of the episode."""

    distances: np.ndarray
    """Largest difference of a joint coordinate [m or rad] before each step, shape [frames]; with `states`, after one
    step from each recorded state."""

    @property
    def largest(self) -> float:
        """The largest of all."""
        return float(self.distances.max())

    @property
    def largest_frame(self) -> int:
        """The frame of the largest distance."""
        return int(self.distances.argmax())

    @property
    def last(self) -> float:
        """The distance at the end."""
        return float(self.distances[-1])


def replay(
    path: Path,
    source: Path | None = None,
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    episodes: Sequence[int] = (),
    *,
    states: bool = False,
) -> list[ReplayedEpisode]:
    """Simulate recorded episodes, each in a world of its own, from their first states and with their actions.

    What a file draws besides the start, such as masses or pushes, is drawn anew.

    Args:
        path: The folder of a recorder `lerobot`, or the file of a recorder `robomimic`.
        source: The file of the simulation; by default that of the recording.
        overrides: Values on top of the file.
        episodes: Numbers of the episodes; by default all.
        states: Whether each step starts from the recorded state, in place of the last one.

    Raises:
        ConfigError: The demonstrations cannot be read, or the simulation has other joints or actions.
        PluginError: A library is not installed.
    """
    found = read_demonstrations(path, episodes)
    tables = tomllib.loads(found.header.config) if source is None else source
    config = _without_actors(load(tables, overrides), found)
    config = attrs.evolve(config, scene=attrs.evolve(config.scene, worlds=len(found.episodes)))
    start = _Start(found.episodes)
    with Simulation(config, [start]) as simulation:
        simulation.reset()
        return _played(simulation, found, start, states=states)


def _without_actors(config: SimulationConfig, found: Demonstrations) -> SimulationConfig:
    """Leave out who else would act, and who watches; episodes end when their frames do."""
    task = config.tables.get("task")  # the table of a package that may not be there
    task = task and attrs.evolve(task, autoreset="disabled")
    config = config.unobserved().with_tables(policy=None, task=task)
    is_of_targets = any(name.endswith(_TARGETS) for name in found.action_channels)
    return undriven(config) if is_of_targets else config


class _Start:
    """Starts each world as its episode did, after whatever the file draws."""

    def __init__(self, episodes: Sequence[Demonstration]) -> None:
        self._episodes = episodes

    @hookimpl
    def bind(self, simulation: Host) -> None:
        """Find the coordinates of each world."""
        model, device = simulation.model, simulation.device
        starts = {"joint_q": model.joint_coord_world_start, "joint_qd": model.joint_dof_world_start}
        self._parts: dict[str, tuple[wp.array, wp.array]] = {}
        for name, start in starts.items():
            rows = np.stack([getattr(each, name)[0] for each in self._episodes])
            sizes = np.diff(on_host(present(start)))[: len(rows)]
            if set(sizes.tolist()) != {rows.shape[1]}:
                raise ConfigError(
                    f"replay: the episodes have {rows.shape[1]} numbers {name}, and a world has {sizes[0]}; name the"
                    " file that was recorded"
                )
            first: Any = wp.array(on_host(present(start)), dtype=int, device=device)
            self._parts[name] = (wp.array(rows, dtype=float, ndim=2, device=device), first)

    @hookimpl
    def initialize_worlds(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Write the first frames."""
        self.write(state, world_mask)

    def set_frame(self, frame: int) -> None:
        """Take another frame, or the last one of episodes that are shorter."""
        for name, (rows, _) in self._parts.items():
            values = [getattr(each, name) for each in self._episodes]
            rows.assign(np.stack([each[min(frame, len(each) - 1)] for each in values]).astype(np.float32))

    def write(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Write the present frame into a state."""
        for name, (rows, first) in self._parts.items():
            values = present(getattr(state, name))
            wp.launch(write_rows, rows.shape, [world_mask, rows, first], [values], device=rows.device)


def _played(simulation: Simulation, found: Demonstrations, start: _Start, *, states: bool) -> list[ReplayedEpisode]:
    inputs = _inputs(simulation, found)
    everywhere: Any = wp.full(simulation.world_count + 1, value=True, dtype=bool, device=simulation.device)
    lengths = [len(each.action) for each in found.episodes]
    distances = np.zeros((max(lengths), len(lengths)))
    for frame in range(max(lengths)):
        rows = [min(frame, length - 1) for length in lengths]
        positions = on_host(present(simulation.state.joint_q)).reshape(len(lengths), -1)
        truth = np.stack([each.joint_q[row] for each, row in zip(found.episodes, rows, strict=True)])
        distances[frame] = np.abs(positions - truth).max(axis=1)
        if states:
            start.set_frame(frame)
            start.write(simulation.state, everywhere)
            simulation.invalidate("joints")
        action = np.stack([each.action[row] for each, row in zip(found.episodes, rows, strict=True)])
        for array, columns in inputs:
            array.assign(np.ascontiguousarray(action[:, columns], dtype=np.float32).reshape(array.shape))
        simulation.step()
    return [
        ReplayedEpisode(index=each.index, distances=distances[:length, row])
        for row, (each, length) in enumerate(zip(found.episodes, lengths, strict=True))
    ]


def _inputs(simulation: Simulation, found: Demonstrations) -> list[tuple[wp.array, slice]]:
    inputs, first = [], 0
    for name, size in found.action_channels.items():
        array = _input(simulation, name)
        if array is None or array.size != size * simulation.world_count:
            raise ConfigError(
                f"replay: the action of the demonstrations is {name!r}, of {size} numbers, and the simulation has none"
                " like it; name the file that was recorded"
            )
        inputs.append((array, slice(first, first + size)))
        first += size
    return inputs


def _input(simulation: Simulation, name: str) -> Any:
    if name == "task/action":
        task = simulation.component("task")
        return None if task is None else task.episodes.action
    _, _, rest = name.partition("actuators/")
    actuator = simulation.actuators.get(rest.removesuffix(_TARGETS)) if name.endswith(_TARGETS) else None
    return getattr(actuator, "position_targets", None)
