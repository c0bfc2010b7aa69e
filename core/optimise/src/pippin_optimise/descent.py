"""The course of an optimisation: its method, its iterations, the best values so far, and its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp
from pippin import SimulationError
from pippin.extras import import_library
from pippin.studies import RunProgress
from warp.optim import SGD, Adam

from .objective import Objective
from .result import GradientCheck, OptimisationResult

_RATE = 0.05
"""Size of the steps in units of the scale, if the table states none."""

_SETTLED = "the loss does not fall any more"

Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Returns losses, shape [worlds], and gradients, shape [worlds, count], of values, shape [worlds, count]."""

Note = Callable[[np.ndarray], bool]
"""Is told the losses before each iteration, shape [worlds]; returns whether it was the last one."""


def minimise(objective: Objective, start: np.ndarray, evaluate: Evaluate, note: Note) -> str:
    """Lower the losses from some start values, shape [worlds, count], and return why it ended.

    All methods count in the `scale` of the variables, and keep within the bounds. The worlds are independent: Warp's
    Adam and gradient descent work number by number, and SciPy's L-BFGS-B lowers the sum of the losses, with one line
    search for all worlds.
    """
    method = _line_search if objective.config.optimiser == "l-bfgs" else _steps
    return method(objective, start, evaluate, note)


def _steps(objective: Objective, start: np.ndarray, evaluate: Evaluate, note: Note) -> str:
    config, scale = objective.config, objective.scale
    low, high = objective.low / scale, objective.high / scale
    values = wp.array((start / scale).ravel(), dtype=float, device="cpu")
    kind: Any = Adam if config.optimiser == "adam" else SGD
    method = kind([values], lr=_RATE if config.learning_rate is None else config.learning_rate)
    for _ in range(config.iterations):
        losses, gradient = evaluate(values.numpy().reshape(start.shape) * scale)
        method.step([wp.array((gradient * scale).ravel(), dtype=float, device="cpu")])
        values.assign(np.clip(values.numpy().reshape(start.shape), low, high).ravel())
        if note(losses):
            return _SETTLED
    return "all iterations were taken"


def _line_search(objective: Objective, start: np.ndarray, evaluate: Evaluate, note: Note) -> str:
    library: Any = import_library("scipy.optimize", "optimise")
    config, scale = objective.config, objective.scale

    before, _ = evaluate(start)
    has_settled, first = False, float(np.abs(before).sum()) or 1.0

    def of_all(values: np.ndarray) -> tuple[float, np.ndarray]:
        losses, gradient = evaluate(values.reshape(start.shape) * scale)
        return float(losses.sum()) / first, (gradient * scale).ravel() / first

    def after_iteration(values: np.ndarray) -> None:
        nonlocal before, has_settled
        has_settled = note(before)
        before, _ = evaluate(values.reshape(start.shape) * scale)
        if has_settled:
            raise StopIteration

    ends = (np.tile(each / scale, len(start)) for each in (objective.low, objective.high))
    found = library.minimize(
        of_all,
        (start / scale).ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=library.Bounds(*ends),
        callback=after_iteration,
        options={"maxiter": config.iterations, "maxls": 10, "ftol": config.tolerance, "gtol": 0.0},
    )
    if has_settled:
        return _SETTLED
    if found.nit >= config.iterations:
        return "all iterations were taken"
    return _SETTLED if found.success else "the line search finds no lower loss"


_PATIENCE = 5
"""Iterations over which the fall of the best losses is compared with the tolerance."""


class Descent:
    """One optimisation, iteration by iteration; a progress shows its live line."""

    def __init__(self, objective: Objective, progress: RunProgress | None = None) -> None:
        self._objective, self._progress = objective, RunProgress() if progress is None else progress
        #: Loss of each world before each iteration, of shape [worlds] each.
        self.losses: list[np.ndarray] = []
        #: The lowest loss of each world so far, shape [worlds].
        self.best_losses: np.ndarray = np.zeros(0)
        #: The values of each world that have it, shape [worlds, count]; at first those of the simulation.
        self.best_values: np.ndarray = objective.start()
        #: The values of each variable in the control steps that were taken, shape [numbers] each.
        self.taken: list[dict[str, np.ndarray]] = []
        #: The first gradient beside differences of rollouts.
        self.comparisons: list[GradientCheck] = []
        #: Rollouts with a gradient, wall time of the iterations [s], and why the optimisation ended.
        self.rollouts, self.seconds, self.ended = 0, 0.0, "it was stopped"
        self._iterations = 0
        self._first: np.ndarray = np.zeros(0)
        self._before: list[np.ndarray] = []
        self._latest: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def run(self, stop_if_asked: Callable[[], None] = lambda: None) -> None:
        """Check the gradient, and lower the losses until the end.

        Raises:
            ConfigError: The gradient is wrong or zero.
            SimulationError: A loss or a gradient is not finite.
        """
        objective, start = self._objective, self.best_values

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
            if objective.config.moves is None:
                self.ended = minimise(objective, start, evaluate, self._note)
                return
            for _ in range(objective.config.moves):
                self._before.clear()
                minimise(objective, start, evaluate, self._improve)
                start = self._move(objective.config.moves)
            self.ended = "all moves were taken"

    def _move(self, whole: int) -> np.ndarray:
        """Take the first control step of the best plan, one of all moves, and return where the next plans start."""
        objective, plan = self._objective, self.best_values[self.best_losses.argmin()]
        first = {each.name: plan[objective.columns[each.name]][: each.width].copy() for each in objective.variables}
        self.taken.append(first)
        self._record(self.best_losses, whole)
        start = objective.move(plan)
        self._latest, self.best_losses = None, np.zeros(0)
        return start

    def _evaluate(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
        """Note the losses before an iteration, and return whether the best ones have stopped to fall."""
        self._iterations += 1
        self._record(losses, self._objective.config.iterations)
        return self._has_settled(losses)

    def _improve(self, losses: np.ndarray) -> bool:
        """Count an iteration of one of many plans, and return whether the best losses have stopped to fall."""
        self._iterations += 1
        return self._has_settled(losses)

    def _has_settled(self, losses: np.ndarray) -> bool:
        """Return whether the best losses have stopped to fall; `losses` are those before an iteration."""
        self._before.append(self.best_losses.copy())
        self._first = losses if len(self._before) == 1 else self._first
        tolerance = self._objective.config.tolerance
        if not tolerance or len(self._before) <= _PATIENCE:
            return False
        fall = self._before[-1 - _PATIENCE] - self._before[-1]
        return bool((fall <= tolerance * np.abs(self._first)).all())

    def _record(self, losses: np.ndarray, whole: int) -> None:
        """Keep the losses of an iteration or a move, of a whole number of them, and show the live line."""
        self.losses.append(losses)
        self.seconds, count = time.perf_counter() - self._began, len(self.losses)
        left = f"{(whole - count) * self.seconds / count:.0f} s left"
        self._progress.update(f"{count} of {whole}, loss {losses.min():.4g}, best {self.best_losses.min():.4g}, {left}")

    def result(self, folder: Path) -> OptimisationResult:
        """Return what was found so far."""
        objective, best = self._objective, self.losses[-1] if self.taken else self.best_losses
        world = int(best.argmin())
        values = {
            each.name: np.array([row[each.name] for row in self.taken])
            if self.taken
            else self.best_values[world, objective.columns[each.name]].reshape(each.config.points, each.width)
            for each in objective.variables
        }
        return OptimisationResult(
            folder=folder,
            iterations=self._iterations,
            moves=len(self.taken) or None,
            rollouts=self.rollouts,
            seconds=self.seconds,
            ended=self.ended,
            losses=np.array(self.losses).reshape(-1, len(best)),
            loss=float(best[world]),
            world=world,
            values=values,
            comparisons=tuple(self.comparisons),
            kept_bytes=objective.kept_bytes,
        )
