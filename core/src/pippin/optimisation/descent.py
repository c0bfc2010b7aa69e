"""The course of an optimisation: its iterations, the best values so far, and its end."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from pippin.errors import SimulationError
from pippin.runs.interrupt import NeverWaiting, stopped_between_steps
from pippin.runs.progress import RunProgress

from .methods import minimise
from .objective import Objective
from .result import GradientCheck, OptimisationResult

_PATIENCE = 5
"""Iterations over which the fall of the best losses is compared with the tolerance."""


class Descent:
    """One optimisation, iteration by iteration.

    Args:
        objective: The objective.
        progress: Shows the live line; by default nothing does.
    """

    def __init__(self, objective: Objective, progress: RunProgress | None = None) -> None:
        self._objective, self._progress = objective, RunProgress() if progress is None else progress
        #: Loss of each world before each iteration, of shape [worlds] each.
        self.losses: list[np.ndarray] = []
        #: The lowest loss of each world so far, shape [worlds].
        self.best_losses: np.ndarray = np.zeros(0)
        #: The values of each world that have it, shape [worlds, count]; at first those of the simulation.
        self.best_values: np.ndarray = objective.start()
        #: The first gradient beside differences of rollouts.
        self.comparisons: list[GradientCheck] = []
        #: Rollouts with a gradient, wall time of the iterations [s], and why the optimisation ended.
        self.rollouts, self.seconds, self.ended = 0, 0.0, "it was stopped"
        self._before: list[np.ndarray] = []
        self._latest: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def run(self) -> None:
        """Check the gradient, and lower the losses until the end.

        Raises:
            ConfigError: The gradient is wrong or zero.
            SimulationError: A loss or a gradient is not finite.
            KeyboardInterrupt: Ctrl-C ended it, after a rollout.
        """
        objective, start = self._objective, self.best_values
        with stopped_between_steps(NeverWaiting()) as stop_if_asked:

            def evaluate(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                stop_if_asked()
                return self._evaluate(values)

            with self._progress.phase("check"):
                losses, gradient = evaluate(start)
                if objective.config.check:
                    self.comparisons = objective.compare(start, gradient)
                objective.refuse_wrong(losses, gradient, self.comparisons)
            with self._progress.phase("optimise"):
                self._began = time.perf_counter()
                self.ended = minimise(objective, start, evaluate, self._note)

    def _evaluate(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return losses and gradients of some values, and keep the best ones."""
        if self._latest is not None and np.array_equal(values, self._latest[0]):
            return self._latest[1:]
        losses, gradient = self._objective.gradient(values)
        self.rollouts += 1
        wrong = ~(np.isfinite(losses) & np.isfinite(gradient).all(axis=1))
        if wrong.any():
            world = int(wrong.nonzero()[0][0])
            raise SimulationError(
                f"optimise: iteration {len(self.losses) + 1}: the loss of world {world} or its gradient is not finite"
                f" ({losses[world]:g}); shorten simulation.dt, lower optimise.learning_rate, or give the variables"
                " bounds"
            )
        if not len(self.best_losses):
            self.best_losses, self.best_values = losses.copy(), values.copy()
        is_better = losses < self.best_losses
        self.best_losses[is_better], self.best_values[is_better] = losses[is_better], values[is_better]
        self._latest = (values.copy(), losses, gradient)
        return losses, gradient

    def _note(self, losses: np.ndarray) -> bool:
        """Note the losses before an iteration, and return whether they have stopped to fall."""
        self.losses.append(losses)
        self._before.append(self.best_losses.copy())
        self.seconds = time.perf_counter() - self._began
        self._progress.update(self._line())
        tolerance = self._objective.config.tolerance
        if not tolerance or len(self._before) <= _PATIENCE:
            return False
        fall = self._before[-1 - _PATIENCE] - self._before[-1]
        return bool((fall <= tolerance * np.abs(self.losses[0])).all())

    def _line(self) -> str:
        count, whole = len(self.losses), self._objective.config.iterations
        left = f"{(whole - count) * self.seconds / count:.0f} s left"
        return f"{count} of {whole}, loss {self.losses[-1].min():.4g}, best {self.best_losses.min():.4g}, {left}"

    def result(self, folder: Path) -> OptimisationResult:
        """Return what was found so far.

        Args:
            folder: The folder of its files.
        """
        objective, world = self._objective, int(self.best_losses.argmin())
        values = {
            each.name: self.best_values[world, objective.columns[each.name]].reshape(each.config.points, each.width)
            for each in objective.variables
        }
        return OptimisationResult(
            folder=folder,
            iterations=len(self.losses),
            rollouts=self.rollouts,
            seconds=self.seconds,
            ended=self.ended,
            losses=np.array(self.losses).reshape(-1, len(self.best_losses)),
            loss=float(self.best_losses[world]),
            world=world,
            values=values,
            comparisons=tuple(self.comparisons),
            kept_bytes=objective.kept_bytes,
        )
