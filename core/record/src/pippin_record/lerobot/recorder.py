"""Recorder `lerobot`: datasets of demonstrations that LeRobot reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pippin import ConfigError, Host
from pippin.files import output_path
from pippin.recording import Header
from pippin.recording.channels import Channel

from pippin_record.demonstrations import Camera, Episode, EpisodeRecorder

from .dataset import HEADER, Dataset, DatasetFeature, video_feature
from .video import Encoder, EpisodeVideo

_FEATURES = {"state": "observation.state", "environment_state": "observation.environment_state", "action": "action"}
_TOLERANCE = 1e-6
"""Largest difference of the rate of frames from a whole number."""


class LeRobotRecorder(EpisodeRecorder):
    """A dataset of LeRobot, format v3, read by `LeRobotDataset`; needs the extra `pippin[lerobot]`.

    An episode of a world is one of the dataset, in the order in which they end. The features are `observation.state`,
    `action`, `observation.images.CAMERA` as videos, `next.reward`, `next.done` and `next.success` of a task, and
    `simulation.CHANNEL` of the state before each step. The folder has whole episodes at any time, also after a kill.
    """

    suffix = ""

    @property
    def growing_path(self) -> Path:
        """The file whose lock tells that the dataset grows."""
        return self.path / HEADER

    def open(self, path: Path, header: Header) -> None:
        """Begin the dataset."""
        config, fps = self.config, _whole_rate(header.control_dt)
        features = [
            DatasetFeature(name=feature, dtype="float32", size=len(names), names=names)
            for role, feature in _FEATURES.items()
            if (names := self.names_of(role))
        ]
        if self.has_task:
            features += [
                DatasetFeature(name="next.reward", dtype="float32"),
                DatasetFeature(name="next.done", dtype="bool"),
            ]
        if self.has_success:
            features.append(DatasetFeature(name="next.success", dtype="bool"))
        self._series = {f"simulation.{name.replace('/', '.')}": name for name in self.roles["series"]}
        by_channel = {name: self.names_of_channel(name) for name in self._series.values()}
        features += [
            DatasetFeature(name=feature, dtype="float32", size=len(by_channel[name]), names=by_channel[name])
            for feature, name in self._series.items()
        ]
        videos = {
            _feature_of(camera): video_feature(camera.height, camera.width, fps, config.codec)
            for camera in self.cameras
        }
        self._dataset = Dataset(path, features, videos, fps, config.instruction, config.robot_type)
        self._dataset.begin(header.to_json())
        self._encoder = Encoder(config.codec, fps)

    def add_images(self, episode: Episode, camera: Camera, images: np.ndarray) -> None:
        """Append images to the video of the episode."""
        name = _feature_of(camera)
        if name not in episode.images:
            path = self._dataset.unfinished(f"{name}-{episode.world}-{episode.number}.mp4")
            episode.images[name] = EpisodeVideo(path, (camera.height, camera.width), self._encoder)
        episode.images[name].add(images)

    def save(self, episode: Episode) -> None:
        """Add the episode to the dataset."""
        values = {feature: self.episode_columns(episode, role) for role, feature in _FEATURES.items()}
        values |= {feature: self.before(episode, name) for feature, name in self._series.items()}
        if self.has_task:
            values["next.reward"] = episode.column("task/reward")
            values["next.done"] = done = np.zeros((episode.length, 1), dtype=bool)
            done[-1] = episode.has_ended
        if self.has_success:
            values["next.success"] = self.successes(episode)
        self._dataset.add(values, episode.images, episode.length)

    def drop(self, episode: Episode) -> None:
        """Remove the videos of the episode."""
        for video in episode.images.values():
            video.discard()

    def commit(self) -> None:
        """Write what is complete."""
        self._dataset.commit()

    def finish(self) -> None:
        """Write the episodes that are left."""
        try:
            self.finish_episodes()
        finally:
            self._encoder.close()
            self._dataset.close()

    def _found_path(self, folder: Path | None, label: str) -> Path:
        path = self.config.path or label
        return output_path(folder, Path(path) / HEADER).parent.parent

    def _found_channels(self, simulation: Host) -> tuple[Channel, ...]:
        _whole_rate(simulation.control_dt)
        found = super()._found_channels(simulation)
        for camera in self.cameras:
            if camera.height % 2 or camera.width % 2:
                raise ConfigError(
                    f"images: {camera.channel!r} has {camera.width} × {camera.height} pixels, and videos need even"
                    " numbers; change width and height of the sensor"
                )
        return found


def _feature_of(camera: Camera) -> str:
    return f"observation.images.{camera.name}"


def _whole_rate(control_dt: float) -> int:
    fps = round(1.0 / control_dt)
    if fps < 1 or abs(fps * control_dt - 1.0) > _TOLERANCE:
        raise ConfigError(
            f"lerobot: a control step of {control_dt:g} s makes {1.0 / control_dt:.6g} frames per second, and a dataset"
            " has a whole number; change simulation.dt or simulation.decimation"
        )
    return fps
