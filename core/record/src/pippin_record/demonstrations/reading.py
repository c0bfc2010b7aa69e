"""Demonstrations read back, for replays: actions and states of each episode, and the run that they are from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError
from pippin.array_files import UNREADABLE
from pippin.extras import import_library
from pippin.recording import Header

from .held import HELD

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
    return header, _split(columns, columns.pop("episode_index")[:, 0].astype(int))


def _split(columns: Mapping[str, np.ndarray], numbers: np.ndarray) -> Iterator[Demonstration]:
    for index in np.unique(numbers).tolist():
        yield Demonstration(index=index, **{name: values[numbers == index] for name, values in columns.items()})


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
