"""The classical method of Runge and Kutta in double precision, for reference motions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def integrated(
    rates: Callable[[np.ndarray], np.ndarray], start: np.ndarray, times: np.ndarray, step: float
) -> np.ndarray:
    """Return the states at some ascending times [s], shape [times, states], in steps of at most `step` [s]."""
    states, state, now = [], np.asarray(start, dtype=float), 0.0
    for time in times:
        count = int(np.ceil((time - now) / step - 1e-9))
        own = (time - now) / max(count, 1)
        for _ in range(count):
            first = rates(state)
            second = rates(state + 0.5 * own * first)
            third = rates(state + 0.5 * own * second)
            fourth = rates(state + own * third)
            state = state + own / 6.0 * (first + 2.0 * second + 2.0 * third + fourth)
        now = float(time)
        states.append(state)
    return np.array(states)
