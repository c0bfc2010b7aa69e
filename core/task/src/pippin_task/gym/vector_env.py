"""Vector environment of Gymnasium: the worlds of one simulation, stepped together, in this process or in several."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from pippin import ConfigError, Simulation, SimulationConfig, SimulationError
from pippin.arrays import present
from pippin.devices import kind_of

from .arguments import RENDER_MODES, check_backend, check_render_mode, read_mask, read_seeds
from .local_worlds import Autoreset, WorldFacts, named
from .sharded_worlds import Worlds, load_worlds, name_of_source, open_worlds

if TYPE_CHECKING:
    import warp as wp

    from pippin_task.task import Task


class VectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """The worlds of a simulation with a task, as Gymnasium's vector environment.

    Args:
        file: A configuration file with a `[task]` table, or its tables as a dictionary, or a `SimulationConfig`.
        num_envs: The number of worlds, by default that of the file.
        overrides: Values that replace those of the file, by key path.
        backend: The library of actions and results: "numpy", "torch" or "warp"; the latter two share the memory of the
            simulation's device.
        copy: Whether results are copies; without, each step changes the arrays that earlier ones returned.
        autoreset: Time of the reset of a world whose episode ended: "same-step", "next-step" or "disabled"; by default
            as the file says.
        max_episode_steps: Control steps after which an episode is truncated; by default as the file says.
        render_mode: "rgb_array" for images, or None.
        plugins: As for `pippin.Simulation`.
        first_world: Number of the first world among those of a larger run: random draws depend on it.
        shards: Number of processes of this machine that the worlds are split over, or "auto" for the number of cores;
            each world gives the same bits as in one process. `simulation` and `task` are then out of reach, `device`
            is "cpu", and a script makes the environment below `if __name__ == "__main__":`. None keeps the worlds in
            this process.
        _worlds: For `load`: worlds that stand in place of those of the file.

    Raises:
        ConfigError: The file is wrong or has no task, or an argument is wrong.
        PluginError: A plugin cannot be loaded, or breaks its contract.
    """

    def __init__(
        self,
        file: SimulationConfig | str | os.PathLike[str] | Mapping[str, Any],
        *,
        num_envs: int | None = None,
        overrides: Mapping[str, Any] | None = None,
        backend: Literal["numpy", "torch", "warp"] = "numpy",
        copy: bool = True,
        autoreset: Autoreset | None = None,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        plugins: Sequence[Any] | Mapping[str, Any] = (),
        first_world: int = 0,
        shards: int | Literal["auto"] | None = None,
        _worlds: Worlds | None = None,
    ) -> None:
        check_render_mode(render_mode)
        check_backend(backend)
        if _worlds is None:
            own = {"scene.worlds": num_envs, "scene.first_world": first_world or None, "task.autoreset": autoreset}
            _worlds = open_worlds(
                file, overrides, own, max_episode_steps=max_episode_steps, plugins=plugins, shards=shards
            )
        self._worlds, self._source = _worlds, name_of_source(file)
        #: For the core: facts of the worlds that do not change.
        self.facts: WorldFacts = _worlds.facts
        facts = self.facts
        self.single_action_space, self.single_observation_space = facts.action_space, facts.observation_space
        self.num_envs = _worlds.count
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.autoreset: Autoreset = facts.autoreset
        self.metadata = {
            "autoreset_mode": AutoresetMode[self.autoreset.replace("-", "_").upper()],
            "render_modes": list(RENDER_MODES),
            "render_fps": max(1, round(1.0 / facts.control_dt)),
        }
        self.render_mode = render_mode
        #: Whether there was a reset, so that `step` may be called.
        self.was_reset: bool = False
        #: Name of the library of actions and results.
        self.backend: str = backend
        #: Name of the device of actions and results, as PyTorch writes it.
        self.device: str = _worlds.device
        self._connect(copy=copy)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        backend: Literal["numpy", "torch", "warp"] = "numpy",
        copy: bool = True,
        render_mode: str | None = None,
        plugins: Sequence[Any] | Mapping[str, Any] = (),
    ) -> Self:
        """Continue from the call of `save`, also in the middle of episodes: the next call is `step`.

        Args:
            path: What `save` wrote: a file, or the folder of an environment in shards, which has as many again.
            backend: As for the class.
            copy: As for the class.
            render_mode: As for the class.
            plugins: As for the class.

        Raises:
            ConfigError: The file is missing, or is not a checkpoint, or an argument is wrong.
        """
        worlds = load_worlds(path, plugins)
        try:
            env = cls(path, backend=backend, copy=copy, render_mode=render_mode, _worlds=worlds)
        except BaseException:
            worlds.close()
            raise
        env.was_reset = True
        return env

    def _connect(self, *, copy: bool) -> None:
        from .backends import backend_of

        backend = backend_of(self.backend, copy=copy)
        arrays = self._worlds.arrays()
        self._waiting = arrays["waiting"]
        #: For the core: steps of the present episodes, shape [worlds]; `set_episode_lengths` writes them.
        self.episode_lengths: wp.array = arrays["length"]
        readers = {name: backend.reader(array) for name, array in arrays.items()}
        self._read_values = _reader_of(named(readers, "values"))
        self._results = [readers[name] for name in ("reward", "terminated", "truncated")]
        self._finished = readers["finished"]
        zeros = {name: partial(backend.zeros, array) for name, array in arrays.items()}
        self._end_readers, self._no_ends = _ends(readers), _called(_ends(zeros))
        self._end_masks = [f"_{name}" for name in self._no_ends]
        self._write_action = backend.writer(arrays["action"])
        # Whether an episode ended is asked on the host, unless that waits for a device whose results stay there.
        self._reads_flags = self.backend == "numpy" or kind_of(present(arrays["finished"].device)) == "cpu"
        self._host_finished = backend_of("numpy", copy=False).reader(arrays["finished"])

    @property
    def simulation(self) -> Simulation:
        """The simulation; refused if its worlds are in several processes."""
        return self._worlds.simulation

    @property
    def task(self) -> Task:
        """The task of the simulation; refused likewise."""
        return self._worlds.task

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in all worlds, or in those of a mask.

        Args:
            seed: A number for all worlds, whose draws differ all the same, or a list with a number or None for each
                world. It belongs to the stream of all following episodes. Without it, the stream continues; it begins
                with `simulation.seed`.
            options: `{"reset_mask": mask}` with a boolean NumPy array of shape [worlds] resets the worlds of the mask.

        Returns:
            The observations of all worlds, and no further information.

        Raises:
            ConfigError: A seed or an option is wrong.
            SimulationError: The environment is closed, or the first reset has a mask.
        """
        self._refuse_closed("reset")
        seeds, mask = read_seeds(seed, self.num_envs), read_mask(options, self.num_envs)
        if mask is not None and not self.was_reset:
            raise SimulationError("reset: the first reset is of all worlds; leave 'reset_mask' out")
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._worlds.reset(seeds, mask)
        self.was_reset = True
        return self.observe(), {}

    def observe(self) -> Any:
        """Return the present observations of all worlds, as the last `reset` or `step` returned them."""
        return self._read_values()

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one control step in all worlds.

        Args:
            actions: An array of float32 of the backend's library, shape [worlds, numbers]. Numbers outside the action
                space are clipped, as `clip` of the task's actions says. For NumPy and PyTorch, other numbers are
                rounded to float32, and for NumPy, lists are arrays.

        Returns:
            Observations, rewards, terminated, truncated, and a dictionary with: `final_obs`, the observations before
            a reset in this step; `episode`, with return `r` and length `l` of the episode; `episode_terms`, the sums of
            its weighted rewards by label; `episode_metrics`, its metrics by label, if the task has any; and
            `final_info`, with `is_success`, if one of them is `success`. Each is valid in the worlds of the mask of the
            same name after a `_`, whose episodes ended in this step; without any, the arrays are zero.

        Raises:
            ConfigError: The action has another type or shape, or is not finite; no step was taken.
            SimulationError: There was no reset, a world waits for its reset, the environment is closed; or a reward is
                not finite: then the step was taken, and the environment can continue.
        """
        self._refuse_closed("step")
        self._refuse_unready()
        self._write_action(actions)
        self._worlds.step(reads_flags=self._reads_flags)
        finished = self._finished()
        has_ended = not self._reads_flags or bool(self._host_finished().any())
        ends = _called(self._end_readers) if has_ended else self._no_ends
        info = {**ends, **dict.fromkeys(self._end_masks, finished)}
        reward, terminated, truncated = [read() for read in self._results]
        return self.observe(), reward, terminated, truncated, info

    def mirror(self, label: str) -> Mirror:
        """Return what mirrors observations and actions left to right, by the `label` of `[task.symmetry]`.

        Raises:
            ConfigError: There is no such symmetry, or the arrays are of Warp, which has no such indices.
        """
        if label not in self.facts.mirrors:
            known = ", ".join(self.facts.mirrors) or "none; add a table [task.symmetry.LABEL]"
            raise ConfigError(f"mirror: no symmetry is labelled {label!r}; labels: {known}")
        if self.backend == "warp":
            raise ConfigError("mirror: backend 'warp' cannot choose columns; take 'numpy' or 'torch'")
        if self.backend == "numpy":
            return Mirror(self.facts.mirrors[label], np.asarray)
        import torch

        return Mirror(self.facts.mirrors[label], partial(torch.as_tensor, device=self.device))

    def set_episode_lengths(self, lengths: np.ndarray) -> None:
        """For the core: set the steps of the present episodes, shape [worlds]."""
        self._worlds.set_lengths(lengths)

    def raise_errors(self) -> None:
        """Raise if a reward was not finite, a buffer overflowed, or a state diverged in a world that was not reset.

        Synchronises with the device. `step` looks for rewards itself, unless its results stay on a CUDA device.

        Raises:
            SimulationError: Names the place, and what may cure it.
        """
        self._worlds.raise_errors()

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return an image of each world, shape [height, width, 3], from 0 to 255; None without a render mode.

        Raises:
            SimulationError: The environment is closed.
        """
        self._refuse_closed("render")
        return None if self.render_mode is None else self._worlds.render()

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call the method `name` with `args` and `kwargs`, as Gymnasium's vector environments of processes do."""
        return getattr(self, name)(*args, **kwargs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all data that steps carry on to `path`, which is replaced, for `load`. Synchronises with the device.

        It is one file; an environment in shards writes a folder, with a file for each.

        Raises:
            SimulationError: A component cannot be saved, or the environment is closed.
        """
        self._refuse_closed("save")
        self._worlds.save(path)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the simulation; `kwargs` are Gymnasium's own, without effect."""
        self._worlds.close()

    def __repr__(self) -> str:
        return f"VectorEnv({self._source!r}, num_envs={self.num_envs}, autoreset={self.autoreset!r})"

    def __str__(self) -> str:
        return repr(self)

    def _refuse_closed(self, what: str) -> None:
        if self.closed:
            raise SimulationError(f"{what}: the environment is closed; make another one")

    def _refuse_unready(self) -> None:
        if not self.was_reset:
            raise SimulationError("step: no episode has begun; call `reset` first")
        if self.autoreset == "disabled":
            waiting = np.flatnonzero(self._waiting.numpy())
            if waiting.size:
                listed = ", ".join(map(str, waiting[:8])) + (", …" if waiting.size > 8 else "")
                raise SimulationError(
                    f"step: the episodes of {waiting.size} worlds ended: {listed}; reset these worlds before, with"
                    ' options={"reset_mask": terminated | truncated}'
                )


class Mirror:
    """Observations and actions of a task, reflected left to right: for training data that no side is preferred in.

    Args:
        task: The columns and signs.
        convert: Makes an array of the library of the environment from one of NumPy.
    """

    def __init__(self, task: Any, convert: Callable[[np.ndarray], Any]) -> None:
        def own(columns: Any) -> tuple[Any, Any]:
            return convert(columns.index), convert(columns.sign.astype(np.float32))

        self._groups = {name: own(columns) for name, columns in task.groups.items()}
        self._action = own(task.action)

    def observations(self, values: Any) -> Any:
        """Return observations in the mirror; `values` are as of `step`, with any leading axes: an array, or groups."""
        if isinstance(values, Mapping):
            return {name: _reflected(each, *self._groups[name]) for name, each in values.items()}
        return _reflected(values, *next(iter(self._groups.values())))

    def actions(self, values: Any) -> Any:
        """Return actions in the mirror; `values` are as for `step`, with any leading axes."""
        return _reflected(values, *self._action)


def _reflected(values: Any, index: Any, sign: Any) -> Any:
    return values[..., index] * sign


def _ends(readers: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """Return the readers of what `step` tells about the episodes that ended: functions, or dictionaries of them."""
    ends: dict[str, Any] = {"final_obs": _reader_of(named(readers, "final"))}
    ends |= {"episode": named(readers, "episode"), "episode_terms": named(readers, "terms")}
    if metrics := named(readers, "metrics"):
        ends["episode_metrics"] = metrics
    if "success" in readers:
        ends["final_info"] = {"is_success": readers["success"]}
    return ends


def _called(readers: Any) -> Any:
    return {name: _called(each) for name, each in readers.items()} if isinstance(readers, dict) else readers()


def _reader_of(groups: Mapping[str, Callable[[], Any]]) -> Callable[[], Any]:
    return next(iter(groups.values())) if len(groups) == 1 else partial(_called, dict(groups))


def refuse_unfit(name: str, env: Any, backend: str, library: str, *, is_installed: bool) -> None:
    """Raise for wrappers, another backend or autoreset than an adapter takes, and for a library that is missing."""
    if not isinstance(env, VectorEnv):
        raise ConfigError(f"{name}: expected a pippin_task.gym.VectorEnv without wrappers, got {type(env).__name__}")
    if env.backend != backend:
        raise ConfigError(f"{name}: expected an environment with backend={backend!r}, got {env.backend!r}")
    if env.autoreset != "same-step":
        raise ConfigError(f"{name}: expected an environment with autoreset='same-step', got {env.autoreset!r}")
    if not is_installed:
        raise ConfigError(f"{name}: {library} is not installed; install it")


def row_of(observations: Any, world: int) -> Any:
    """Return the observations of one world."""
    if isinstance(observations, Mapping):
        return {name: values[world] for name, values in observations.items()}
    return observations[world]
