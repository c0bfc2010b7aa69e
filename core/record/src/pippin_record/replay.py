"""Replays of demonstrations: recorded episodes, their actions in a simulation, and how far it goes from them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin import ConfigError, Host, Simulation, SimulationConfig, hookimpl, load
from pippin.array_files import UNREADABLE
from pippin.arrays import on_host, present
from pippin.extras import import_library
from pippin.motions import undriven
from pippin.recording import Header

from pippin_record.demonstrations.recorder import HELD
from pippin_record.kernels import write_rows

_TARGETS = "/position_targets"

HEADER_OF_DATASETS = "meta/pippin.json"
"""The header of the recording, in a dataset of LeRobot."""

_JOINTS = ("joint_q", "joint_qd")
_NO_ACTIONS = ("task/reward", "task/terminated", "task/truncated", "task/metrics/success")


@attrs.frozen(kw_only=True, eq=False)
class Demonstration:
    """An episode: in frame k, the state before a control step, and the action of that step."""

    index: int
    """Number of the episode."""

    action: np.ndarray
    """Shape [frames, numbers]."""

    joint_q: np.ndarray
    """Coordinates [m or rad], shape [frames, coordinates]."""

    joint_qd: np.ndarray
    """Velocities [m/s or rad/s], shape [frames, degrees of freedom]."""


@attrs.frozen(kw_only=True, eq=False)
class Demonstrations:
    """The episodes of a recorder `lerobot` or `robomimic`."""

    path: Path

    header: Header
    """The header of the recording, with the configuration of its run."""

    episodes: tuple[Demonstration, ...]

    @property
    def action_channels(self) -> Mapping[str, int]:
        """The channels of the action, side by side, with the number of values of each."""
        return {
            column.name: int(np.prod(column.shape[1:], dtype=int))
            for column in self.header.columns
            if not column.name.startswith(HELD) and column.name not in _NO_ACTIONS
        }


def read_demonstrations(path: Path, chosen: Sequence[int] = ()) -> Demonstrations:
    """Read a folder of LeRobot or a file of robomimic that Pippin recorded.

    Args:
        path: The folder, or the file `.hdf5`.
        chosen: Numbers of the episodes; by default all.

    Raises:
        ConfigError: It is none of them, lacks an episode, or has no state of the joints.
        PluginError: A library is not installed.
    """
    try:
        header, found = (_of_robomimic if path.is_file() else _of_lerobot)(path)
    except (*UNREADABLE, RecursionError) as error:
        raise ConfigError(
            f"{path}: not demonstrations of Pippin ({error}); name the folder of a recorder `lerobot`, or the file of"
            " a recorder `robomimic`"
        ) from error
    episodes = {each.index: each for each in found}
    for index in chosen:
        if index not in episodes:
            raise ConfigError(f"{path}: no episode {index}; it has {len(episodes)}, from 0")
    if not episodes:
        raise ConfigError(f"{path}: no episodes; record some")
    own = [episodes[index] for index in chosen] if chosen else list(episodes.values())
    return Demonstrations(path=path, header=header, episodes=tuple(own))


def _of_lerobot(folder: Path) -> tuple[Header, Iterator[Demonstration]]:
    parquet: Any = import_library("pyarrow.parquet", "lerobot")
    header = Header.from_json((folder / HEADER_OF_DATASETS).read_text(encoding="utf-8"), str(folder))
    names = {"action": "action", **{name: f"simulation.{name}" for name in _JOINTS}}
    parts: dict[str, list[np.ndarray]] = {name: [] for name in (*names, "episode_index")}
    for file in sorted(folder.glob("data/chunk-*/file-*.parquet")):
        table = parquet.read_table(file, columns=["episode_index", *names.values()])
        for name, part in parts.items():
            values = np.array(table.column(names.get(name, name)).to_pylist())
            part.append(values.reshape(len(table), -1))
    columns = {name: np.concatenate(part) if part else np.zeros((0, 1)) for name, part in parts.items()}
    numbers = columns.pop("episode_index")[:, 0].astype(int)
    return header, (
        Demonstration(index=index, **{name: values[numbers == index] for name, values in columns.items()})
        for index in np.unique(numbers).tolist()
    )


def _of_robomimic(path: Path) -> tuple[Header, Iterator[Demonstration]]:
    h5py: Any = import_library("h5py", "hdf5")
    file = h5py.File(path, "r", locking=False)
    data = file["data"]
    header = Header.from_json(data.attrs["pippin"], str(path))
    sizes = {column.name: int(np.prod(column.shape[1:], dtype=int)) for column in header.columns}
    series = json.loads(data.attrs["series"])
    ends = np.cumsum([sizes[f"{HELD}{name}"] for name in series])
    slices = {name: slice(int(end) - sizes[f"{HELD}{name}"], int(end)) for name, end in zip(series, ends, strict=True)}
    chosen = {name: slices[name] for name in _JOINTS}
    return header, _demos(file, chosen)


def _demos(file: Any, chosen: Mapping[str, slice]) -> Iterator[Demonstration]:
    with file:
        for index in range(len(file["data"])):
            demo = file[f"data/demo_{index}"]
            states = demo["states"][:]
            joints = {name: states[:, part] for name, part in chosen.items()}
            yield Demonstration(index=index, action=demo["actions"][:], **joints)


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
