"""Base class of recorders of whole episodes: a frame has what was observed, held during the step, and the action."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin import ConfigError, Host, hookimpl
from pippin.labels import match
from pippin.recording import Recorder
from pippin.recording.channels import Channel, channels

from pippin_record.kernels import copy_bytes

HELD = "before/"
"""Beginning of the names of held channels."""

_BYTE: Any = wp.uint8


class HeldChannels:
    """Copies of channels, which a step takes at its start; may be recorded.

    Raises:
        ConfigError: The values of a channel are gathered on the host, which a recorded step cannot do.
    """

    def __init__(self, channels: dict[str, Channel], where: str = "worlds") -> None:
        self._updates = tuple(dict.fromkeys(each.update for each in channels.values() if each.update is not None))
        if any(getattr(update, "func", None) is np.take for update in self._updates):
            raise ConfigError(f"{where}: the worlds are not evenly spaced; choose some that are, such as '0:8'")
        #: The copies by the name of the channel.
        self.channels: dict[str, Channel] = {}
        self._copies: list[tuple[wp.array, wp.array]] = []
        for name, channel in channels.items():
            copy: Any = wp.zeros(channel.source.shape, dtype=channel.source.dtype, device=channel.source.device)
            self.channels[name] = attrs.evolve(channel, name=f"{HELD}{name}", source=copy, update=None)
            self._copies.append((channel.source, copy))

    def take(self) -> None:
        """Copy the present values; may be recorded."""
        for update in self._updates:
            update()
        for source, copy in self._copies:
            if source.is_contiguous:
                wp.copy(copy, source)
            else:
                target = _bytes(copy)
                wp.launch(copy_bytes, target.shape, [_bytes(source), target], device=copy.device)


def _bytes(array: wp.array) -> wp.array:
    """View an array as the bytes of its rows, which lie together within a row, shape [rows, bytes]."""
    size = int(np.prod(array.shape[1:], dtype=int)) * wp.types.type_size_in_bytes(array.dtype)
    strides: Any = array.strides
    view = wp.array(ptr=array.ptr, shape=(len(array), size), strides=(strides[0], 1), dtype=_BYTE, device=array.device)
    view._ref = array  # the memory lives as long as the view
    return view


@attrs.define(kw_only=True, eq=False)
class Episode:
    """The frames of an episode so far."""

    world: int
    """The world, by its row in the recording."""

    number: int
    """Resets of the world before it."""

    length: int = 0
    """Number of frames."""

    has_ended: bool = False
    """Whether the task ended it."""

    parts: dict[str, list[np.ndarray]] = attrs.field(factory=dict)
    """Values by channel, in parts of some frames each, shape [frames, …]."""

    images: dict[str, Any] = attrs.field(factory=dict)
    """What a recorder makes of the images, by camera."""

    def column(self, name: str) -> np.ndarray:
        """Return the values of a channel in all frames, shape [frames, numbers].

        Args:
            name: The channel, which has a `before/` if its values are from before each step.
        """
        return np.concatenate(self.parts[name]).reshape(self.length, -1)


_EVERYTHING = (".*", ".*/.*")
_ROLES = ("state", "environment_state", "action", "series")
_COUNT = "episode"
_REWARD = "task/reward"
_SUCCESS = "task/metrics/success"
_ENDS = ("task/terminated", "task/truncated")


@attrs.frozen(kw_only=True)
class Camera:
    """A camera of the recording: an index in the images of a channel."""

    name: str
    """Label of the sensor, with a number if it has several cameras."""
    channel: str
    """The channel of its images."""
    index: int
    """Its place along the third axis of the channel."""
    height: int
    """Number of rows."""
    width: int
    """Number of pixels in a row."""


class EpisodeRecorder(Recorder):
    """Splits the rows of each world into episodes, and gives them to a format one by one.

    A frame has the observations and the state from which a control step started, and the action and the reward of that
    step. A plugin adds `add_images`, `save`, `drop` and `commit`.
    """

    #: The channels of `state`, `environment_state`, `action` and `series`; known after `bind`.
    roles: Mapping[str, tuple[str, ...]]
    #: The cameras; known after `bind`.
    cameras: tuple[Camera, ...]
    #: Whether the simulation has a task; known after `bind`.
    has_task: bool
    #: Whether the task has the metric `success`; known after `bind`.
    has_success: bool

    @abc.abstractmethod
    def add_images(self, episode: Episode, camera: Camera, images: np.ndarray) -> None:
        """Take the images of the next frames.

        Args:
            episode: The episode, whose `images` are for the recorder to use.
            camera: The camera.
            images: Shape [frames, height, width, 3], from 0 to 255; the next rows overwrite the array.
        """

    @abc.abstractmethod
    def save(self, episode: Episode) -> None:
        """Keep an episode.

        Args:
            episode: The episode, which is over.
        """

    @abc.abstractmethod
    def drop(self, episode: Episode) -> None:
        """Forget an episode.

        Args:
            episode: The episode, which is over.
        """

    @abc.abstractmethod
    def commit(self) -> None:
        """Write the episodes that were kept, so that readers of the format see them."""

    def decide(self, *, keep: bool) -> int:
        """End the present episodes of all recorded worlds, and keep or drop them; what follows before a reset is in
        no episode.

        Args:
            keep: Whether to keep them.

        Returns:
            The number of episodes that ended.
        """
        if not self.row_count:
            return 0
        self.flush()
        chosen = [episode for episode in self._episodes if episode is not None and episode.length]
        for episode in chosen:
            episode.has_ended = keep
            self._over[episode.world] = episode.number
            self._close_episode(episode, keep=keep)
        self.commit()
        return len(chosen)

    @property
    def held_arrays(self) -> Mapping[str, wp.array]:
        """For the core: the copies of what was observed, each of shape [worlds, …]."""
        return {name: channel.source for name, channel in self._held.channels.items()}

    @hookimpl(tryfirst=True)
    def start_step(self) -> None:
        """Hold what was observed, before anything acts on it."""
        self._held.take()

    def write(self, rows: np.ndarray) -> None:
        """Split the rows into episodes, and write those that are over."""
        counts = rows[f"{HELD}{_COUNT}"]
        ends = np.zeros(counts.shape, dtype=bool)
        if self.has_task and self.config.keep != "asked":
            ends = np.logical_or(*(rows[name] for name in _ENDS))
        for world in range(counts.shape[1]):
            for frames in _pieces(counts[:, world], ends[:, world]):
                self._add(world, rows[frames], int(counts[frames.start, world]), ends[frames.stop - 1, world])
        self.commit()

    def episode_columns(self, episode: Episode, role: str) -> np.ndarray:
        """Return the values of a role in all frames of an episode, float32, shape [frames, numbers].

        Args:
            episode: The episode.
            role: One of `roles`.
        """
        parts = [episode.column(self._column(role, name)) for name in self.roles[role]]
        return np.concatenate(parts, axis=1, dtype=np.float32) if parts else np.zeros((episode.length, 0), np.float32)

    def successes(self, episode: Episode) -> np.ndarray:
        """Return whether each frame of an episode is a success, by the metric `success`, shape [frames, 1].

        Args:
            episode: The episode.
        """
        return episode.column(_SUCCESS) > 0.0

    def names_of(self, role: str) -> list[str]:
        """Return a name for each number of a role; the channel is a part of it if names would repeat.

        Args:
            role: One of `roles`.
        """
        plain = [_names(self._by_name[self._column(role, name)]) for name in self.roles[role]]
        short = list(chain.from_iterable(plain))
        if len(set(short)) == len(short):
            return short
        return [f"{name}/{each}" for name, own in zip(self.roles[role], plain, strict=True) for each in own]

    def before(self, episode: Episode, name: str) -> np.ndarray:
        """Return the values of a channel before each step of an episode, float32, shape [frames, numbers].

        Args:
            episode: The episode.
            name: The channel, one of `series`.
        """
        return episode.column(f"{HELD}{name}").astype(np.float32)

    def names_of_channel(self, name: str) -> list[str]:
        """Return a name for each number of a channel.

        Args:
            name: The channel, one of those before each step.
        """
        return _names(self._by_name[f"{HELD}{name}"])

    def finish_episodes(self) -> None:
        """End all episodes: the run is over."""
        for episode in self._episodes:
            if episode is not None:
                self._close_episode(episode, keep=self.config.keep == "all" and episode.length > 0)
        self.commit()

    def _found_channels(self, simulation: Host) -> tuple[Channel, ...]:
        config = self.config
        found = channels(
            simulation, self.worlds, _EVERYTHING, episode=simulation.reset_counts, max_contacts=config.max_contacts
        )
        every = {channel.name: channel for channel in found}
        self.has_task = simulation.component("task") is not None
        self.roles = {role: _chosen(role, getattr(config, role), list(every)) for role in _ROLES}
        images = _chosen("images", config.images, list(every))
        self.cameras = tuple(chain.from_iterable(_cameras(every[name]) for name in images))
        before = (*self.roles["state"], *self.roles["environment_state"], *self.roles["series"], *images, _COUNT)
        self._held = HeldChannels({name: every[name] for name in dict.fromkeys(before)})
        self.has_success = _SUCCESS in every
        if config.keep == "success" and not self.has_success:
            raise ConfigError("keep: the task has no metric with the label 'success'; add one, or keep other episodes")
        ends = (_REWARD, *_ENDS) if self.has_task else ()
        after = (*self.roles["action"], *ends, *((_SUCCESS,) if self.has_success else ()))
        rows = (*self._held.channels.values(), *(every[name] for name in dict.fromkeys(after)))
        self._by_name = {channel.name: channel for channel in rows}
        self._image_columns = {f"{HELD}{name}" for name in images}
        self._episodes: list[Episode | None] = [None] * len(self.worlds)
        self._over = [-1] * len(self.worlds)
        return rows

    def _column(self, role: str, name: str) -> str:
        return name if role == "action" else f"{HELD}{name}"

    def _add(self, world: int, rows: np.ndarray, number: int, is_end: bool) -> None:
        episode = self._episodes[world]
        if episode is not None and episode.number != number:
            self._close_episode(episode, keep=self.config.keep == "all")
            episode = None
        if self._over[world] == number:
            return
        if episode is None:
            episode = self._episodes[world] = Episode(world=world, number=number)
        for name in self._by_name:
            if name not in self._image_columns:
                episode.parts.setdefault(name, []).append(rows[name][:, world].copy())
        for camera in self.cameras:
            self.add_images(episode, camera, rows[f"{HELD}{camera.channel}"][:, world, camera.index, :, :, :3])
        episode.length += len(rows)
        if is_end:
            episode.has_ended = True
            is_kept = self.config.keep != "success" or bool(self.successes(episode)[-1])
            self._close_episode(episode, keep=is_kept)

    def _close_episode(self, episode: Episode, *, keep: bool) -> None:
        self._episodes[episode.world] = None
        if keep:
            self.save(episode)
        else:
            self.drop(episode)


def _chosen(key: str, patterns: Sequence[str] | None, names: Sequence[str]) -> tuple[str, ...]:
    """Return the channels that patterns choose for a key; without patterns, those that it has by itself."""
    if patterns is not None:
        return tuple(names[index] for index in match(patterns, names, "channel", key)) if patterns else ()
    if key == "environment_state":
        return ()
    if key == "series":
        return tuple(name for name in ("joint_q", "joint_qd") if name in names)
    if key == "images":
        return tuple(name for name in names if name.startswith("sensors/") and name.endswith("/color"))
    policy, groups = "task/observations/policy", [name for name in names if name.startswith("task/observations/")]
    targets = [name for name in names if name.endswith("/position_targets")]
    of_state = [policy] if policy in groups else groups[:1] or [name for name in names if name == "joint_q"]
    found = of_state if key == "state" else ["task/action"] if "task/action" in names else targets
    if not found:
        raise ConfigError(f"{key}: the simulation has none by itself; name channels: {', '.join(names)}")
    return tuple(found)


def _cameras(channel: Channel) -> Iterator[Camera]:
    if len(channel.shape) != 5 or channel.dtype != np.uint8:
        raise ConfigError(f"images: {channel.name!r} has no colours; name outputs `color` or `albedo` of cameras")
    label = channel.name.split("/")[1]
    _, count, height, width, _ = channel.shape
    for index in range(count):
        name = label if count == 1 else f"{label}_{index}"
        yield Camera(name=name, channel=channel.name, index=index, height=height, width=width)


def _names(channel: Channel) -> list[str]:
    name, shape = channel.name.removeprefix(HELD), channel.shape[1:]
    names = [""] if not shape or not channel.labels else list(channel.labels)
    if len(shape) > 1 or (shape and not channel.labels):
        last = channel.components or [str(index) for index in range(shape[-1])]
        middle = names if channel.labels else [""] * int(np.prod(shape[:-1], dtype=int))
        names = [f"{each}/{end}" if each else str(end) for each in middle for end in last]
    size = int(np.prod(shape, dtype=int))
    return [each or name for each in names] if len(names) == size else [f"{name}/{index}" for index in range(size)]


def _pieces(counts: np.ndarray, ends: np.ndarray) -> Iterator[slice]:
    cuts = np.flatnonzero((np.diff(counts) != 0) | ends[:-1]) + 1
    edges = [0, *cuts.tolist(), len(counts)]
    return (slice(first, last) for first, last in pairwise(edges))
