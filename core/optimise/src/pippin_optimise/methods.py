"""The methods: Warp's Adam and gradient descent on the device, and SciPy's L-BFGS-B.

All of them count in the `scale` of the variables, and keep within the bounds. The worlds are independent: the two
methods of Warp work number by number, and L-BFGS-B lowers the sum of the losses, with one line search for all worlds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp
from pippin.extras import import_library
from warp.optim import SGD, Adam

from .objective import Objective

_RATE = 0.05
"""Size of the steps in units of the scale, if the table states none."""

_SETTLED = "the loss does not fall any more"

Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Returns losses, shape [worlds], and gradients, shape [worlds, count], of values, shape [worlds, count]."""

Note = Callable[[np.ndarray], bool]
"""Is told the losses before each iteration, shape [worlds]; returns whether it was the last one."""


def minimise(objective: Objective, start: np.ndarray, evaluate: Evaluate, note: Note) -> str:
    """Lower the losses from some start values, and return why it ended.

    Args:
        objective: The objective: its table, its scale and its bounds.
        start: The values, shape [worlds, count].
        evaluate: The losses and their gradients.
        note: Called with the losses before each iteration, shape [worlds]; returns whether it was the last one.
    """
    config = objective.config
    return (_line_search if config.optimiser == "l-bfgs" else _steps)(objective, start, evaluate, note)


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
