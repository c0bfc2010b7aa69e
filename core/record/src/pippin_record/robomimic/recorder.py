"""Recorder `robomimic`: demonstrations in robomimic's layout of HDF5, a group for each episode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from pippin.recording import Header

from pippin_record.demonstrations import Camera, Episode, EpisodeRecorder

_GYM = 2
"""Number of the environments of Gymnasium, as robomimic counts kinds."""

_OBSERVATIONS = ("state", "environment_state")
_GROWING = "growing"


class RobomimicRecorder(EpisodeRecorder):
    """HDF5 in robomimic's layout, read by robomimic and h5py; needs the extra `pippin[hdf5]`.

    `data/demo_K` is an episode, with `actions`, `rewards`, `dones`, `states`, `obs/state`, `obs/environment_state` and
    `obs/CAMERA_image`. `states` are the channels of `series` side by side, before each step. There is no `next_obs`:
    observations after the end of an episode are of the next one. The file has whole episodes, also after a kill.
    """

    suffix = ".hdf5"

    def open(self, path: Path, header: Header) -> None:
        """Begin the file."""
        self._file = h5py.File(path, "w", libver="earliest", locking=False)  # the recorder locks it
        self._data = self._file.create_group("data")
        environment = {
            "env_name": self.config.env_name,
            "type": _GYM,
            "env_kwargs": {"config": header.config},
            "env_version": header.versions["pippin"],
        }
        self._data.attrs["env_args"] = json.dumps(environment)
        self._data.attrs["total"] = 0
        for role in ("state", "environment_state", "action", "series"):
            self._data.attrs[f"names_of_{role}"] = json.dumps(self.names_of(role))
        self._data.attrs["series"] = json.dumps(self.roles["series"])
        self._data.attrs["pippin"] = header.to_json()
        self._count = self._frame_count = 0
        self._file.flush()

    def add_images(self, episode: Episode, camera: Camera, images: np.ndarray) -> None:
        """Keep the images until the episode is over."""
        episode.images.setdefault(f"{camera.name}_image", []).append(images.copy())

    def save(self, episode: Episode) -> None:
        """Write the episode, and only then give it its name."""
        if _GROWING in self._file:
            del self._file[_GROWING]
        group = self._file.create_group(_GROWING)
        group.attrs["num_samples"] = episode.length
        group.attrs["has_ended"] = episode.has_ended
        if self.has_success:
            group.attrs["success"] = bool(self.successes(episode)[-1])
        done = np.zeros(episode.length, dtype=np.uint8)
        done[-1] = 1
        rewards = episode.column("task/reward")[:, 0] if self.has_task else np.zeros(episode.length, np.float32)
        arrays = {"actions": self.episode_columns(episode, "action"), "rewards": rewards, "dones": done}
        arrays["states"] = self.episode_columns(episode, "series")
        for name, values in arrays.items():
            group.create_dataset(name, data=values)
        observed: dict[str, Any] = {role: self.episode_columns(episode, role) for role in _OBSERVATIONS}
        observed |= {name: np.concatenate(parts) for name, parts in episode.images.items()}
        for name, values in observed.items():
            if values.shape[1]:
                group.create_dataset(f"obs/{name}", data=values, compression=self.config.compression)
        self._file.move(_GROWING, f"data/demo_{self._count}")
        self._count += 1
        self._frame_count += episode.length
        self._data.attrs["total"] = self._frame_count

    def drop(self, episode: Episode) -> None:
        """Do nothing: the episode is in memory alone."""

    def commit(self) -> None:
        """Let the system have what was written."""
        self._file.flush()

    def finish(self) -> None:
        """Write the episodes that are left, and the list of all of them."""
        try:
            self.finish_episodes()
            names = np.array([f"demo_{index}" for index in range(self._count)], dtype="S")
            self._file.create_dataset("mask/train", data=names)
        finally:
            self._file.close()
