"""Files of a training that continue it and play: the last state, the policy that plays best, and some others."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pippin import ConfigError, Simulation, SimulationConfig, load
from pippin.studies import RunFolder
from pippin_task import Player

from .training import STATE, Training

FOLDER = "checkpoints"
"""Folder of the last few checkpoints, each a policy and what a trainer saved, named after the iteration."""

VIDEO = "policy.mp4"
"""Video of the policy that plays best."""

_VIDEO_MAX = 10.0
"""Longest video [s]."""


class Checkpoints:
    """Writes the files of a training, and lets its policies play: the policy of the folder is the one that plays best.

    Args:
        training: How far it is, which is changed by what plays.
        entry: The plugin of the trainer, for errors.
        trainer: The trainer.
        env: Its environment, which has the passport of its policies.
        config: The configuration of all worlds, with the device of this process.

    Raises:
        ConfigError: The task cannot be built with the worlds that play.
    """

    def __init__(self, training: Training, entry: Any, trainer: Any, env: Any, config: SimulationConfig) -> None:
        self._training, self._entry, self._trainer, self._env = training, entry, trainer, env
        self._config, self._settings = config, config.trainer.config
        worlds = self._settings.played_worlds
        #: Whether nothing plays as episodes have no end.
        self.is_endless: bool = worlds > 0 and config.task.episode_length is None
        try:
            plays = worlds and not self.is_endless
            self._player = Player(config, worlds, self._settings.observations) if plays else None
        except ConfigError as error:
            error.restate(lambda fault: f"trainer.played_worlds: {worlds} worlds cannot be built: {fault}")
            raise
        self._folder = RunFolder(training.folder, continues=True)
        self._others = RunFolder(training.folder / FOLDER, continues=True)
        self._best: float | None = None
        self._last = 0.0

    def save(self, *, is_last: bool = False, plays: bool = True) -> dict[str, Any] | None:
        """Write the state and the policy, and let it play if there is time; return its score if it played.

        Args:
            is_last: Whether it plays even if there is no time.
            plays: Whether it may play.
        """
        training, player, name = self._training, self._player, f"{self._training.iteration:06d}"
        state = training.checkpoint
        self._write(self._folder, state.name, self._trainer.save)
        with self._others.written(f"{name}{state.suffix}") as part:
            shutil.copyfile(state, part)
        self._write(self._others, f"{name}.onnx", self._write_policy)
        policy, score = self._others.path / f"{name}.onnx", None
        if player is not None and plays and (is_last or self._has_time()):
            if self._best is None and training.played is not None:  # it is resumed
                self._best = self._merit_of_earlier()
            score = self._play(policy)
        is_best = score is not None and (self._best is None or merit_of(score) >= self._best)
        if is_best:
            self._best, training.played, training.played_iteration = merit_of(score), score, training.iteration
        if is_best or (training.played is None and self._best is None):
            with self._folder.written(training.policy.name) as part:
                shutil.copyfile(policy, part)
        self._prune(state.suffix)
        self._folder.write_json(STATE, training.summary())
        return score

    def finish(self) -> None:
        """Let the best policy play once more, from other starts: those that chose it flatter it."""
        training, player = self._training, self._player
        if player is not None and training.played is not None:
            training.played = self._play(training.policy, seed=1)
            self._folder.write_json(STATE, training.summary())
        if self._settings.video:
            self._record()

    def _record(self) -> None:
        """Write a video of an episode of the policy, of ten seconds at most."""
        file, policy = ((self._training.folder / name).absolute() for name in (VIDEO, self._training.policy.name))
        own: dict[str, Any] = {"scene.worlds": 1, "task.solvers": [], "policy.path": str(policy)}
        own["viewers.video"] = {"type": "video", "path": str(file)}
        if len(self._config.task.observations) > 1:
            own["policy.observations"] = self._settings.observations
        with Simulation(load(self._config.unobserved().with_tables(policy=None), own)) as simulation:
            length = min(_VIDEO_MAX, self._config.task.episode_length or _VIDEO_MAX)
            simulation.step(max(1, round(length / simulation.control_dt)))

    def close(self) -> None:
        """Close the simulation in which policies play."""
        if self._player is not None:
            self._player.close()

    def _play(self, policy: Path, seed: int = 0) -> dict[str, Any]:
        assert self._player is not None, "the callers see to it"
        began = time.perf_counter()
        score = self._player.play(policy, seed=seed)
        self._last = time.perf_counter() - began
        self._training.play_seconds += self._last
        return score

    def _has_time(self) -> bool:
        """Return whether another play, which takes as long as the last one, keeps its share of the time."""
        after = self._training.play_seconds + self._last
        return after <= self._settings.play_share * (self._training.seconds + after)

    def _merit_of_earlier(self) -> float:
        """Return what the policy of the folder plays now; the settings may be those of another task."""
        try:
            return merit_of(self._play(self._training.policy))
        except ConfigError:
            return -math.inf

    def _write(self, folder: RunFolder, name: str, write: Callable[[Path], None]) -> None:
        with folder.written(name) as part, self._entry.attributed(write.__name__.removeprefix("_")):
            write(part)

    def _write_policy(self, path: Path) -> None:
        self._trainer.write_policy(path)
        trained = {key: getattr(self._training, key) for key in ("trainer", "iteration", "steps")}
        self._env.write_passport(path, **trained)  # what is wrong with the file is wrong with the plugin

    def _prune(self, suffix: str) -> None:
        """Remove old checkpoints, and those that a killed training took after its last state."""
        policies = {int(path.stem): path for path in self._others.path.glob("*.onnx") if path.stem.isdecimal()}
        kept = sorted(number for number in policies if number <= self._training.iteration)[
            -self._settings.checkpoints :
        ]
        for number in policies.keys() - set(kept):
            policies[number].unlink()
            policies[number].with_suffix(suffix).unlink(missing_ok=True)


def merit_of(score: dict[str, Any]) -> float:
    """Return the number by which policies are compared: the mean return, if it is one."""
    mean = score["mean_return"]
    return mean if mean is not None and math.isfinite(mean) else -math.inf
