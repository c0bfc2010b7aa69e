"""The worlds of an environment in one process: all of them, or a shard that steps at signals of its owner."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs
import gymnasium
import numpy as np
from pippin import ConfigError, Simulation, SimulationConfig

from .sharing import FAILED, STEP, SharedArrays, SharedLayout, receive_signal

if TYPE_CHECKING:
    import warp as wp

    from pippin_task.config import TaskConfig
    from pippin_task.observations import ObservationGroup
    from pippin_task.score import Score
    from pippin_task.task import Task

Autoreset = Literal["same-step", "next-step", "disabled"]

_IMAGE_SIZE = (320, 240)
"""Width and height of an image [pixels]."""


@attrs.frozen(kw_only=True)
class WorldFacts:
    """Facts of an environment that do not change while it runs."""

    action_space: gymnasium.spaces.Box
    """The space of one world's action."""

    observation_space: gymnasium.Space
    """The space of one world's observations."""

    autoreset: Autoreset
    """Time of the reset of a world whose episode ended."""

    control_dt: float
    """Length of a control step [s]."""

    task: TaskConfig
    """The table of the task."""

    groups: tuple[str, ...]
    """Names of the groups of observations."""

    episode_steps: int | None
    """Steps after which an episode is truncated, if there is a limit."""

    mirrors: Mapping[str, Any]
    """What mirrors observations and actions, by the label of its symmetry."""


class LocalWorlds:
    """The worlds of a simulation with a task; it is closed with them.

    Raises:
        ConfigError: There is no task, or it has no actions or observations.
    """

    def __init__(self, simulation: Simulation, source: str) -> None:
        self.simulation = simulation
        try:
            if simulation.task is None:
                raise ConfigError(f"{source}: has no [task] table; an environment needs one")
            self.task: Task = simulation.task
            self.facts = WorldFacts(
                action_space=_action_space(self.task),
                observation_space=_observation_space(self.task),
                autoreset=self.task.config.autoreset,
                control_dt=simulation.control_dt,
                task=self.task.config,
                groups=tuple(self.task.observations),
                episode_steps=self.task.episode_steps,
                mirrors=self.task.mirrors,
            )
        except ConfigError:
            simulation.close()
            raise
        self.count = simulation.world_count
        #: Name of the device of the arrays.
        self.device = str(simulation.device)
        self._frames = None

    def arrays(self) -> dict[str, wp.array]:
        """Return the arrays of actions and results by name, each with a first axis of worlds.

        The names of groups of observations follow `values/` and `final/`, labels of rewards follow `terms/`, those
        of metrics `metrics/`.
        """
        task, episodes = self.task, self.task.episodes
        rows: Any = episodes.finished_sums
        success = {} if episodes.is_success is None else {"success": episodes.is_success}
        groups = task.observations.items()
        return {
            "action": episodes.action,
            "reward": episodes.reward,
            "terminated": episodes.terminated,
            "truncated": episodes.truncated,
            "finished": episodes.finished,
            "waiting": episodes.waiting,
            "length": episodes.length,
            "episode/r": episodes.finished_return,
            "episode/l": episodes.finished_length,
            **{f"values/{name}": _shaped(group.values, group) for name, group in groups},
            **{f"final/{name}": _shaped(group.final, group) for name, group in groups},
            **{f"terms/{label}": rows[row] for row, label in enumerate(task.rewards)},
            **{f"metrics/{label}": episodes.finished_metrics[row] for row, label in enumerate(task.metrics)},
            **success,
        }

    def step(self, *, reads_flags: bool) -> None:
        """Take a control step with the action in `arrays`.

        Raises:
            SimulationError: A reward is not finite; only if `reads_flags`, which waits for the device.
        """
        self.simulation.step()
        if reads_flags:
            self.task.raise_errors()

    def reset(self, seeds: tuple[np.ndarray, np.ndarray] | None, mask: np.ndarray | None) -> None:
        """Begin an episode in the worlds of a mask, or in all; the seeds are as `read_seeds` returns them."""
        if seeds is not None:
            numbers, is_given = seeds
            self.task.reseed(numbers, is_given if mask is None else is_given & mask)
        if mask is None or mask.any():
            self.simulation.reset(mask)

    def set_lengths(self, lengths: np.ndarray) -> None:
        """Set the steps of the present episodes, shape [worlds]."""
        self.task.episodes.length.assign(lengths)

    def raise_errors(self) -> None:
        """Raise if the simulation failed; see `Simulation.raise_errors`."""
        self.simulation.raise_errors()

    def statistics(self) -> tuple[Score, dict[str, float]]:
        """Return the score of all episodes so far, and the mean over the worlds of each number of the curricula."""
        return self.task.sums, self.task.curriculum_means

    def render(self) -> tuple[np.ndarray, ...]:
        """Return an image of each world."""
        if self._frames is None:
            self._frames = Frames(self.simulation)
        return self._frames.draw()

    def save(self, path: Any) -> None:
        """Write a checkpoint."""
        self.simulation.save(path)

    def close(self) -> None:
        """Close the simulation."""
        self._frames = None
        self.simulation.close()


class Frames:
    """Images of all worlds, each from a camera that follows its robot, at a distance that the first state gives."""

    def __init__(self, simulation: Simulation) -> None:
        from pippin.rendering import Cameras, Renderer, Tiles

        self._simulation, worlds = simulation, np.arange(simulation.world_count)
        layout = Tiles.stacked(len(worlds), _IMAGE_SIZE)
        self._cameras = Cameras(None, simulation, worlds, layout.width / layout.height)
        self._renderer = Renderer(simulation.model, worlds, layout, self._cameras.fov, self._cameras.scale)

    def draw(self) -> tuple[np.ndarray, ...]:
        """Return the image of each world, shape [height, width, 3], from 0 to 255."""
        state = self._simulation.state
        image = self._renderer.render(state, self._cameras.poses(state, self._simulation.time))
        return tuple(image.reshape(-1, *_IMAGE_SIZE[::-1], 3).copy())


def named(arrays: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the arrays whose names begin with a prefix and a slash, by the rest of their names."""
    return {name.removeprefix(f"{prefix}/"): array for name, array in arrays.items() if name.startswith(f"{prefix}/")}


def _action_space(task: Task) -> gymnasium.spaces.Box:
    low, high = task.action_bounds
    if not low.size:
        raise ConfigError("task.actions: there are none; an environment needs at least one")
    return gymnasium.spaces.Box(low, high, dtype=np.float32)


def _observation_space(task: Task) -> gymnasium.Space:
    boxes: dict[str, gymnasium.Space] = {
        name: gymnasium.spaces.Box(*group.bounds, group.image_shape or (len(group.labels),), dtype=np.float32)
        for name, group in task.observations.items()
    }
    if not boxes:
        raise ConfigError("task.observations: there are none; an environment needs at least one group")
    return next(iter(boxes.values())) if len(boxes) == 1 else gymnasium.spaces.Dict(boxes)


def _shaped(values: wp.array, group: ObservationGroup) -> wp.array:
    """View the numbers of a group, shape [worlds, numbers], as images if they are some."""
    return values if group.image_shape is None else values.reshape((len(values), *group.image_shape))


class EnvShardWorker(LocalWorlds):
    """The worlds of a shard, from a `checkpoint` or the beginning, which share memory and step at `signals`."""

    def __init__(self, config: SimulationConfig, checkpoint: Path | None, source: str, signals: socket.socket) -> None:
        simulation = Simulation(config) if checkpoint is None else Simulation.load(checkpoint)
        super().__init__(simulation, source)
        from pippin.state import HostMirror

        self._signals = signals
        arrays = self.arrays()
        self._read = {name: HostMirror(array, is_read=True).read for name, array in arrays.items()}
        self._act = HostMirror(arrays["action"]).assign
        self._copies: list[tuple[np.ndarray, Callable[[], np.ndarray]]] = []
        self._action: Any = None

    def describe(self) -> tuple[WorldFacts, SharedLayout, str]:
        """Return facts of the worlds, the arrays to be shared, and the device."""
        rows = {name: (read().shape[1:], read().dtype.str) for name, read in self._read.items()}
        return self.facts, SharedLayout(self.count, rows), self.device

    def attach(self, layout: SharedLayout, worlds: range) -> None:
        """Share the memory of all worlds, whose descriptor comes by the socket; `worlds` are those of this shard."""
        _, (file, *_), _, _ = socket.recv_fds(self._signals, 1, 1)
        shared = SharedArrays(layout, file)
        os.close(file)
        own = {name: array[worlds.start : worlds.stop] for name, array in shared.arrays.items()}
        self._action = own.pop("action")
        self._copies = [(target, self._read[name]) for name, target in own.items()]
        self._publish()

    def follow(self) -> None:
        """Take a step at each signal, until the signal to leave."""
        signals = self._signals
        while receive_signal(signals) == STEP:
            self._act(self._action)
            try:
                self.step(reads_flags=True)
            except BaseException:
                self._publish()
                signals.send(FAILED)
                raise
            self._publish()
            signals.send(STEP)

    def reset(self, seeds: tuple[np.ndarray, np.ndarray] | None, mask: np.ndarray | None) -> None:
        """Begin episodes; see `LocalWorlds.reset`."""
        super().reset(seeds, mask)
        self._publish()

    def set_lengths(self, lengths: np.ndarray) -> None:
        """Set the steps of the present episodes, shape [worlds]."""
        super().set_lengths(lengths)
        self._publish()

    def step_count(self) -> int:
        """Return the control steps so far."""
        return self.simulation.step_count

    def _publish(self) -> None:
        for target, read in self._copies:
            np.copyto(target, read())
