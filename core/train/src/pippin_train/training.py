"""Progress of a training: its numbers, its live line and its outcome in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from pippin import ConfigError

POLICY, STATE = "policy.onnx", "training.json"
"""Files of a training: the policy, and how far it is."""

COLUMNS = ("iteration", "steps", "seconds", "mean_return", "mean_length")
"""Numbers of every row of the curve."""

_KEPT = (*COLUMNS, "cpu_seconds")
"""What a resumed training continues with."""

_LATER = ("played", "played_iteration", "play_seconds", "loggers")
"""What it continues with if there is some."""


@attrs.define(kw_only=True)
class Training:
    """State of a training."""

    folder: Path
    """The run folder."""

    trainer: str
    """Name of what learns."""

    iterations: int
    """Iterations at the end."""

    iteration: int = 0
    """Iterations so far."""

    steps: int = 0
    """Control steps of all worlds so far."""

    seconds: float = 0.0
    """Wall time of the iterations so far [s]."""

    cpu_seconds: float = 0.0
    """Processor time of all threads in these iterations [s]."""

    mean_return: float | None = None
    """Mean over the last 100 episodes, with the noise of the actions; None before one has ended."""

    mean_length: float | None = None
    """Mean length of these episodes [control steps]."""

    numbers: Mapping[str, float] = attrs.field(factory=dict)
    """Other numbers of the last iteration by name, such as `std`, `kl` and `reward/LABEL`, as in the curve."""

    played: Mapping[str, Any] | None = None
    """Score of the policy without noise, as `Task.score` tells it: of one episode in each of a few worlds. At the end,
    these are others than those that chose the policy. None if nothing was played so far."""

    played_iteration: int = 0
    """Iteration of that policy: the one that plays best."""

    play_seconds: float = 0.0
    """Wall time of the plays [s]."""

    loggers: Mapping[str, str] = attrs.field(factory=dict)
    """By what the libraries of the loggers find this training again, by label."""

    @property
    def checkpoint(self) -> Path:
        """The file of networks and optimiser."""
        return self.folder / f"checkpoint.{self.trainer}"

    @property
    def policy(self) -> Path:
        """The policy that plays best, or the last one if none plays."""
        return self.folder / POLICY

    def summary(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return {**attrs.asdict(self), "folder": str(self.folder), "policy": str(self.policy)}

    def outcome(self) -> str | None:
        """Return in words what the policy plays; None if it did not play, or no episode ended."""
        if self.played is None or not self.played["episodes"]:
            return None
        mean = f"mean return {self.played['mean_return']:.4g}"
        if (width := self.played["mean_return_half_width"]) is not None:
            mean += f" ± {width:.2g}"
        ended = f"{self.played['terminated']} of {self.played['episodes']} end early"
        share = self.play_seconds / max(self.seconds + self.play_seconds, 1e-9)
        policy = f"policy of iteration {self.played_iteration}; plays took {share:.1%} of the time"
        return f"{mean}, mean length {self.played['mean_length']:.0f} steps; {ended} ({policy})"

    def line(self, rate: float) -> str:
        """Return the live line, with a rate of control steps of all worlds per second."""
        left = (self.iterations - self.iteration) * self.seconds / max(self.iteration, 1)
        mean = "no episode has ended"
        if self.mean_return is not None:
            mean = f"return {self.mean_return:.4g}, length {self.mean_length:.0f}"
        mean += "".join(f", {key} {self.numbers[key]:.2g}" for key in ("std", "kl") if key in self.numbers)
        if self.played is not None and self.played["episodes"]:
            ended = f"{self.played['terminated']} of {self.played['episodes']} end early"
            mean += f", plays {self.played['mean_return']:.4g}, {ended}"
        return f"{self.iteration} of {self.iterations}, {rate:,.0f} steps/s, {mean}, {_duration(left)} left"


def resumed(folder: Path, training: Training) -> Training:
    """Return how far the training of a folder is; it may be that of another trainer, or have ended."""
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        of, iteration = str(state["trainer"]), int(state["iteration"])
        missing = [key for key in _KEPT if key not in state]
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise ConfigError(f"--resume: '{folder}' has no {STATE} of a training; name the folder of one") from error
    if missing:
        raise ConfigError(
            f"--resume: '{folder}' was trained by another version of Pippin, as its {STATE} has no {missing[0]!r};"
            " resume it with that version, or train anew"
        )
    if of != training.trainer:
        raise ConfigError(f"--resume: '{folder}' was trained by {of}, not by {training.trainer}; choose --trainer {of}")
    if iteration >= training.iterations:
        raise ConfigError(f"--resume: '{folder}' has all of its {iteration} iterations; set trainer.iterations to more")
    return attrs.evolve(training, folder=folder, **{key: state[key] for key in (*_KEPT, *_LATER) if key in state})


def _duration(seconds: float) -> str:
    minutes = f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
    return f"{seconds:.0f} s" if seconds < 90.0 else minutes
